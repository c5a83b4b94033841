/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator for memory that lies elsewhere: it hands out whole units, first fit from where the last search ended.
 * Locks: the caller's.
 */
#ifndef GYRE_CORE_STAGES_ROOMS_H
#define GYRE_CORE_STAGES_ROOMS_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/status.h"

enum { GYRE_ROOM_UNIT = 4096 };

struct gyre_rooms {
    uint32_t *taken; /* at a room's first unit: how many units it has; 0: a free unit, or one within a room */
    uint32_t count;  /* units in all */
    uint32_t next;   /* where the next search begins */
    uint64_t in_use; /* bytes, in whole units */
};

/** `size`: the memory's, at least a unit. EXHAUSTED. */
gyre_status gyre_rooms_init(struct gyre_rooms *rooms, uint64_t size);
void gyre_rooms_finish(struct gyre_rooms *rooms);

/** A room of so many bytes, more than 0. False: none is free that is as large. */
bool gyre_rooms_take(struct gyre_rooms *rooms, uint64_t bytes, uint64_t *offset);
/** Gives back the room at this offset; where there is none, nothing happens. */
void gyre_rooms_give(struct gyre_rooms *rooms, uint64_t offset);

#endif
