/* SPDX-License-Identifier: Apache-2.0 */
/* The lanes of a block ask for another call while the lane has work left. Planted: lanes run out of work one after the other.
 *
 * expects: more
 * check: memory,races,schedule
 * options: --config more_left.ini --pipeline items
 * request: {"count":40} */
#include <gyre/kernel.h>

#define ITEM(FIELD) FIELD(u32, count)
GYRE_MESSAGE(item, ITEM)
#define NEXT(PORT) PORT(item, next, 1)
GYRE_PORTS(next_ports, NEXT)
typedef struct work {
    u32 seen[32];
} work;

GYRE_BLOCK_KERNEL_TO(cut, item, gyre_none, next_ports, work)
{
    const u32 lane = gyre_lane(gyre), at = gyre_turn(gyre) * gyre_lane_count(gyre) + lane;
    scratch->seen[lane] = at;
    if (lane == 0)
        gyre_emit(gyre, next)->count = scratch->seen[0];
    if (at + gyre_lane_count(gyre) < request->count) /* second */
        return GYRE_MORE;                            /* first */
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(take, item, item)
{
    *reply = *request;
    return request->count == 0 ? GYRE_REPLY : GYRE_NO_REPLY;
}
