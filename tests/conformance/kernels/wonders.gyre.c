/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that asks one of another file. */
#include <gyre/kernel.h>

#include "asks.h"

#define WONDER_PORTS(PORT, ASK) ASK(riddle, riddle, about, 1)
GYRE_PORTS_WITH_ASKS(wonder_ports, WONDER_PORTS)

/* Its reply is what it heard, and the token. */
GYRE_KERNEL_TO(wonder, riddle, riddle, wonder_ports)
{
    if (gyre_token(gyre) == 0) {
        *gyre_ask(gyre, about, 1 + (u32)request->seed) = *request;
        return GYRE_NO_REPLY;
    }
    *reply = *request;
    reply->sum += gyre_token(gyre);
    return request->what == RIDDLE_UNTOLD ? GYRE_NO_REPLY : GYRE_REPLY;
}
