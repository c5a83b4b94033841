/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes move the values that are large enough to the front. Planted: each takes the next place, so the order of lanes
 * decides the order of values.
 *
 * expects: schedule
 * options: --lanes 16
 * request: {"values":[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]} */
#include <gyre/kernel.h>

#define ROW(FIELD) FIELD(u32, values[16])
GYRE_MESSAGE(row, ROW)

#define KEPT(FIELD) FIELD(u32, count) FIELD(u32, values[16])
GYRE_MESSAGE(kept, KEPT)
typedef struct places_work {
    u32 next;
} places_work;

GYRE_BLOCK_KERNEL(places, row, kept, places_work)
{
    const u32 lane = gyre_lane(gyre);
    reply->values[lane] = 0;
    if (lane == 0)
        scratch->next = 0;
    gyre_barrier(gyre);
    if (request->values[lane] >= 5)
        reply->values[gyre_atomic_add(&scratch->next, 1u)] = request->values[lane];
    gyre_barrier(gyre);
    if (lane == 0)
        reply->count = scratch->next;
    return GYRE_REPLY;
}
