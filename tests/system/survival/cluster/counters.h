/* SPDX-License-Identifier: Apache-2.0 */
/* A keyed actor whose state tells which requests it saw and in which order. */
#ifndef GYRE_TESTS_COUNTERS_H
#define GYRE_TESTS_COUNTERS_H

#include <gyre/message.h>

#define COUNT_REQUEST(FIELD) FIELD(u64, account) FIELD(u64, amount)
GYRE_MESSAGE(count_request, COUNT_REQUEST)
#define COUNT_STATE(FIELD) FIELD(u64, count) FIELD(u64, trace)
GYRE_MESSAGE(count_state, COUNT_STATE)

#define COUNTED(trace, amount) ((trace)*31 + (amount) + 1)
#define CRASHING_AMOUNT        0xfffffffffffffffeUL          /* a request with it takes the process down */
#define SLOW_AMOUNT(ms)        (0xeeeeeeee00000000UL + (ms)) /* a request with it takes so long */
#define IS_SLOW(amount)        ((amount) >> 32 == 0xeeeeeeee)
#define REFUSED_AMOUNT         0xffffffffffffffffUL /* a request with it fails, and changes nothing */

#endif
