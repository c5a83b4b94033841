/* SPDX-License-Identifier: Apache-2.0 */
/* A handler without a host program: `gyre call` sends the messages (see `gyre help call`). */
#include <gyre/kernel.h>

#define SCALE_REQUEST(FIELD) FIELD(f64, value) FIELD(f64, factor)
GYRE_MESSAGE(scale_request, SCALE_REQUEST)

#define SCALE_REPLY(FIELD) FIELD(f64, scaled)
GYRE_MESSAGE(scale_reply, SCALE_REPLY)

GYRE_KERNEL(scale, scale_request, scale_reply)
{
    reply->scaled = request->value * request->factor;
    return GYRE_REPLY;
}
