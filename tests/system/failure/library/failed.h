/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of the programs whose C library fails. */
#ifndef GYRE_TESTS_FAILED_H
#define GYRE_TESTS_FAILED_H

#include <gyre/message.h>

#define FAILED_REQUEST(FIELD) FIELD(u64, number)
GYRE_MESSAGE(failed_request, FAILED_REQUEST)

#define FAILED_REPLY(FIELD) FIELD(u64, count) FIELD(u64, check)
GYRE_MESSAGE(failed_reply, FAILED_REPLY)

#endif
