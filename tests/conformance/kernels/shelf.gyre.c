/* SPDX-License-Identifier: Apache-2.0 */
/* Queries: handlers of a protocol that see state and buffers, and change neither. */
#include <gyre/kernel.h>
#include "shelf.h"

#define PLACES(IN, INOUT) INOUT(u64, places)
GYRE_BUFFERS(shelf_buffers, PLACES)

typedef struct sums {
    u64 of_lanes[SHELF_PLACES];
} sums;

GYRE_ACTOR_OF_WITH(shelf, SHELF, shelf_state, shelf_buffers)

GYRE_HANDLER(shelf, shelf_put, shelf_seen)
{
    buffers->places[request->place % SHELF_PLACES] = request->value;
    reply->puts = ++state->puts;
    reply->value = request->value;
    return GYRE_REPLY;
}

GYRE_QUERY(shelf, shelf_look, shelf_seen)
{
    if (request->place >= buffers->places_count)
        return gyre_fail(gyre, 4, "no such place");
    reply->value = buffers->places[request->place];
    reply->puts = state->puts;
    return GYRE_REPLY;
}

GYRE_BLOCK_KERNEL_OF_WITH(wide, WIDE, sums, shelf_state, shelf_buffers)

GYRE_QUERY(wide, wide_look, shelf_seen)
{
    for (u32 i = gyre_lane(gyre); i < SHELF_PLACES; i += gyre_lane_count(gyre))
        scratch->of_lanes[i] = i == request->place ? buffers->places[i] : 0;
    gyre_barrier(gyre);
    if (gyre_lane(gyre) == 0) {
        u64 sum = 0;
        for (u32 i = 0; i < SHELF_PLACES; i++)
            sum += scratch->of_lanes[i];
        reply->value = sum;
        reply->puts = state->puts;
    }
    return GYRE_REPLY;
}

GYRE_HANDLER(wide, wide_put, shelf_seen)
{
    for (u32 i = gyre_lane(gyre); i < SHELF_PLACES; i += gyre_lane_count(gyre))
        buffers->places[i] = request->values[i];
    if (gyre_lane(gyre) == 0) {
        reply->puts = ++state->puts;
        reply->value = request->values[0];
    }
    return GYRE_REPLY;
}
