/* SPDX-License-Identifier: Apache-2.0 */
/* A block for each batch of ticks: lane 0 makes room in the reply, then all lanes fill it. */
#include <gyre/kernel.h>
#include "parts_ticks.h"

GYRE_BLOCK_KERNEL(parts_ticks, tick_batch, tick_summary, gyre_none)
{
    const GYRE_GLOBAL tick *ticks = gyre_items(tick, request, request->ticks);
    const u32 count = request->ticks.count;
    i64 volume = 0;
    i32 low = 2147483647, high = -2147483647 - 1;
    if (gyre_lane(gyre) == 0) {
        reply->symbol = gyre_copy(gyre, u8, reply, request, request->symbol);
        reply->differences = gyre_new(gyre, i32, reply, count > 0 ? count - 1 : 0);
    }
    gyre_barrier(gyre);
    for (u32 i = gyre_lane(gyre); i < count; i += gyre_lane_count(gyre)) {
        volume += ticks[i].size;
        low = ticks[i].price < low ? ticks[i].price : low;
        high = ticks[i].price > high ? ticks[i].price : high;
        if (i > 0 && i - 1 < reply->differences.count)
            gyre_set(gyre, i32, reply, reply->differences, i - 1, ticks[i].price - ticks[i - 1].price);
    }
    volume = gyre_block_sum_i64(gyre, volume);
    low = gyre_block_min_i32(gyre, low);
    high = gyre_block_max_i32(gyre, high);
    if (gyre_lane(gyre) == 0) {
        reply->volume = volume;
        reply->low = low;
        reply->high = high;
    }
    return GYRE_REPLY;
}
