/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator for memory that lies elsewhere, for example on a device. It hands out rooms (rows of whole units), first fit
 * from where the last search ended. Locks: the caller's.
 */
#ifndef GYRE_CORE_STAGES_ROOMS_H
#define GYRE_CORE_STAGES_ROOMS_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/status.h"

enum { GYRE_ROOM_UNIT = 4096 };

struct gyre_rooms {
    uint32_t *taken; /* for the first unit of a room: the room's units; 0 for every other unit */
    uint32_t count;  /* units of the memory */
    uint32_t next;   /* where the next search begins */
    uint64_t in_use; /* bytes, in whole units */
};

/** Prepares rooms for a memory of `size` bytes, at least one unit. EXHAUSTED. */
gyre_status gyre_rooms_init(struct gyre_rooms *rooms, uint64_t size);
void gyre_rooms_finish(struct gyre_rooms *rooms);

/** How many units a room of `bytes` bytes takes. */
uint64_t gyre_rooms_units(uint64_t bytes);
/** Takes a room of `bytes` bytes, more than 0. False when no free row of units is as large. */
bool gyre_rooms_take(struct gyre_rooms *rooms, uint64_t bytes, uint64_t *offset);
/** Gives back the room at this offset. No effect when no room begins there. */
void gyre_rooms_give(struct gyre_rooms *rooms, uint64_t offset);

#endif
