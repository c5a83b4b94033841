/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of the example in C++: included by the handlers and by the program. */
#ifndef TALLY_H
#define TALLY_H

#include <gyre/message.h>

#define SCALE_REQUEST(FIELD) FIELD(f64, value) FIELD(f64, factor)
GYRE_MESSAGE(scale_request, SCALE_REQUEST)
#define SCALE_REPLY(FIELD) FIELD(f64, result)
GYRE_MESSAGE(scale_reply, SCALE_REPLY)

#define TALLY_REQUEST(FIELD) FIELD(i64, add)
GYRE_MESSAGE(tally_request, TALLY_REQUEST)
#define TALLY_REPLY(FIELD) FIELD(i64, sum)
GYRE_MESSAGE(tally_reply, TALLY_REPLY)

#endif
