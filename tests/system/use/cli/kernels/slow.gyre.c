/* SPDX-License-Identifier: Apache-2.0 */
/* A handler that takes as long as its request says, and dies where that says so: for tests of what is seen from outside. */
#include <gyre/kernel.h>

#define SLOW_REQUEST(FIELD) FIELD(u32, us) FIELD(u32, dies)
GYRE_MESSAGE(slow_request, SLOW_REQUEST)

#define SLOW_REPLY(FIELD) FIELD(u32, us)
GYRE_MESSAGE(slow_reply, SLOW_REPLY)

GYRE_KERNEL(slow, slow_request, slow_reply)
{
    const u64 end = gyre_time_ns(gyre) + (u64)request->us * 1000u;
    while (gyre_time_ns(gyre) < end)
        ;
    if (request->dies)
        *(volatile u32 *)(u64)request->dies = request->us;
    reply->us = request->us;
    return GYRE_REPLY;
}
