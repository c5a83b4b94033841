/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hands out rooms (rows of units) of a memory that lies elsewhere, and never touches that memory. A search looks at each
 * free unit once at most: thousands of units take a few microseconds, no more than an upload costs anyway. Takes no lock.
 */
#include "core/stages/rooms.h"

#include <stdlib.h>

#include "core/base/error.h"

gyre_status gyre_rooms_init(struct gyre_rooms *rooms, uint64_t size)
{
    const uint64_t count = size / GYRE_ROOM_UNIT;
    *rooms = (struct gyre_rooms){.count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX};
    rooms->taken = calloc(rooms->count, sizeof *rooms->taken);
    return rooms->taken
               ? GYRE_OK
               : gyre_error_set(GYRE_EXHAUSTED, "no memory to keep account of %u units of span memory",
                                rooms->count);
}

void gyre_rooms_finish(struct gyre_rooms *rooms)
{
    free(rooms->taken);
    rooms->taken = NULL;
}

/* The first unit of a row of `wanted` free units within [from, end); `end` when no such row exists. */
static uint32_t rooms_search(const struct gyre_rooms *rooms, uint32_t from, uint32_t end, uint32_t wanted)
{
    uint32_t first = from;
    for (uint32_t at = from; at < end && at - first < wanted;) {
        const uint32_t taken = rooms->taken[at];
        at += taken ? taken : 1;
        if (taken)
            first = at;
    }
    return end - from >= wanted && first <= end - wanted ? first : end;
}

uint64_t gyre_rooms_units(uint64_t bytes)
{
    return bytes / GYRE_ROOM_UNIT + (bytes % GYRE_ROOM_UNIT != 0);
}

bool gyre_rooms_take(struct gyre_rooms *rooms, uint64_t bytes, uint64_t *offset)
{
    const uint64_t units = gyre_rooms_units(bytes);
    if (units == 0 || units > rooms->count)
        return false;
    uint32_t first = rooms_search(rooms, rooms->next, rooms->count, (uint32_t)units);
    if (first == rooms->count)
        first = rooms_search(rooms, 0, rooms->count, (uint32_t)units);
    if (first == rooms->count)
        return false;
    rooms->taken[first] = (uint32_t)units;
    rooms->next = first + (uint32_t)units;
    rooms->in_use += units * GYRE_ROOM_UNIT;
    *offset = (uint64_t)first * GYRE_ROOM_UNIT;
    return true;
}

void gyre_rooms_give(struct gyre_rooms *rooms, uint64_t offset)
{
    const uint64_t first = offset / GYRE_ROOM_UNIT;
    if (first >= rooms->count)
        return;
    rooms->in_use -= (uint64_t)rooms->taken[first] * GYRE_ROOM_UNIT;
    rooms->taken[first] = 0;
    if (rooms->in_use == 0)
        rooms->next = 0;
}
