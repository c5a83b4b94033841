/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers whose replies depend on every word of the request, and one that does not return. */
#include <gyre/kernel.h>
#include "messages.h"

GYRE_KERNEL(stamper, stamp, stamp)
{
    reply->producer = request->producer;
    reply->number = request->number;
    for (u32 i = 0; i < 4; i++)
        reply->words[i] = request->words[i] * 3 + i;
    return GYRE_REPLY;
}

#define BLOCK_KERNEL(name, type, count)                                                                      \
    GYRE_KERNEL(name, type, type)                                                                            \
    {                                                                                                        \
        for (u32 i = 0; i < count; i++)                                                                      \
            reply->w[i] = request->w[i] * 3 + i;                                                             \
        return GYRE_REPLY;                                                                                   \
    }

BLOCK_KERNEL(blocks_of_1, block_1, 1)
BLOCK_KERNEL(blocks_of_7, block_7, 7)
BLOCK_KERNEL(blocks_of_128, block_128, 128)
BLOCK_KERNEL(blocks_of_8192, block_8192, 8192)

/* All lanes of a block work on one message. */
GYRE_BLOCK_KERNEL(pages, block_8192, block_8192, gyre_none)
{
    for (u32 i = gyre_lane(gyre); i < 8192; i += gyre_lane_count(gyre))
        reply->w[i] = request->w[i] * 3 + i;
    return GYRE_REPLY;
}

/* It takes as long as it is told. */
GYRE_KERNEL(parcels, parcel, block_1)
{
    const u64 begun = gyre_time_ns(gyre);
    while (gyre_time_ns(gyre) - begun < request->lasts_ns)
        ;
    reply->w[0] = request->number * 3 + request->words.count;
    return GYRE_REPLY;
}

#define ENDLESS_BUFFERS(IN, INOUT) INOUT(u64, turns)
GYRE_BUFFERS(endless_buffers, ENDLESS_BUFFERS)

GYRE_KERNEL_WITH(endless, block_1, block_1, gyre_none, endless_buffers)
{
    u64 last = gyre_time_ns(gyre);
    reply->w[0] = request->w[0];
    while (request->w[0] != 0) { /* 0 is answered */
        gyre_atomic_add(&buffers->turns[0], (u64)1);
        if (gyre_time_ns(gyre) - last < 1000000)
            continue;
        last = gyre_time_ns(gyre);
        gyre_log(gyre, "still here", (i64)last);
    }
    return GYRE_REPLY;
}
