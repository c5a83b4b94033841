/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/message.h>

#define ADD_REQUEST(FIELD) FIELD(f32, a[25]) FIELD(f32, b[25])
#define ADD_REPLY(FIELD)   FIELD(f32, sum[25])

GYRE_MESSAGE(add_request, ADD_REQUEST)
GYRE_MESSAGE(add_reply, ADD_REPLY)
