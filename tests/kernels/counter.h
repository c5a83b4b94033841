/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_COUNTER_H
#define GYRE_KERNELS_COUNTER_H

#include <gyre/message.h>

#define COUNTER_REQUEST(FIELD) FIELD(i64, add)
GYRE_MESSAGE(counter_request, COUNTER_REQUEST)
#define COUNTER_REPLY(FIELD) FIELD(i64, value) FIELD(u64, messages)
GYRE_MESSAGE(counter_reply, COUNTER_REPLY)
#define COUNTER_STATE(FIELD) FIELD(i64, value) FIELD(u64, messages)
GYRE_MESSAGE(counter_state, COUNTER_STATE)

#endif
