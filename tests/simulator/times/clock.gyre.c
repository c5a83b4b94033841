/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the time, and waits for a millisecond of it in a loop. */
#include <gyre/kernel.h>

#define ASK(FIELD) FIELD(u32, which)
GYRE_MESSAGE(ask, ASK)
#define TIME(FIELD) FIELD(u64, ns)
GYRE_MESSAGE(time_of, TIME)

GYRE_KERNEL(clock, ask, time_of)
{
    const u64 begin = gyre_time_ns(gyre);
    while (gyre_time_ns(gyre) < begin + 1000000)
        ;
    reply->ns = gyre_time_ns(gyre);
    return GYRE_REPLY;
}
