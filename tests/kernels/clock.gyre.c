/* SPDX-License-Identifier: Apache-2.0 */
/* Time does not go backwards. */
#include <gyre/kernel.h>

#include "clock.h"

GYRE_KERNEL(clock, clock_request, clock_reply)
{
    const u64 start = gyre_time_ns(gyre);
    u64 before = start;
    reply->forward = 1;
    for (u32 i = 0; i < request->turns; i++) {
        const u64 now = gyre_time_ns(gyre);
        if (now < before)
            reply->forward = 0;
        before = now;
    }
    reply->set = start > 0;
    return GYRE_REPLY;
}
