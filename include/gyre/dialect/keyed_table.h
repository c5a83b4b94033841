/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a block does to its parts of a table of keys (gyre/keyed_layout.h): keys come and leave, and each part has a heap of the
 * entries that have a reminder, the first to be due on top. C11, CUDA C++ and OpenCL C share this text. One thread at a time changes a part.
 *
 * Included by keyed_reminders.h, cuda_keyed.h and opencl_keyed.h, which define GYRE_CALLED_, the qualifiers of a function.
 */
#ifndef GYRE_DIALECT_KEYED_TABLE_H
#define GYRE_DIALECT_KEYED_TABLE_H

#include "gyre/keyed_layout.h"

#define GYRE_KEYED_LOOKS_ 16 /* keys among which the one that was not used for longest is looked for */

/* What a message's key needs until its handler has returned. */
typedef struct gyre_keyed_use_ {
    GYRE_KEYED_AT_ gyre_keyed_part *part;
    GYRE_KEYED_AT_ gyre_keyed_entry *entry;
    int is_new;
} gyre_keyed_use_;

/* ---- the heap ---- */

GYRE_CALLED_ GYRE_KEYED_AT_ gyre_keyed_due *gyre_due_at_(const GYRE_KEYED_AT_ gyre_keyed_table *table,
                                                         GYRE_KEYED_AT_ gyre_keyed_part *part, gyre_u32 place)
{
    return gyre_keyed_due_of(table, gyre_keyed_entry_at(table, part, gyre_keyed_heap(table, part)[place]));
}

/* Puts entry number `number` into a place of the heap. */
GYRE_CALLED_ void gyre_due_place_(const GYRE_KEYED_AT_ gyre_keyed_table *table,
                                  GYRE_KEYED_AT_ gyre_keyed_part *part, gyre_u32 place, gyre_u32 number)
{
    gyre_keyed_heap(table, part)[place] = number;
    gyre_due_at_(table, part, place)->place = place + 1;
}

/* Whether entry `one` is due before entry `other`. Among equals the number decides, so that a replay has the same order. */
GYRE_CALLED_ int gyre_due_before_(const GYRE_KEYED_AT_ gyre_keyed_table *table,
                                  GYRE_KEYED_AT_ gyre_keyed_part *part, gyre_u32 one, gyre_u32 other)
{
    const gyre_i64 one_ns = gyre_keyed_due_of(table, gyre_keyed_entry_at(table, part, one))->due_ns;
    const gyre_i64 other_ns = gyre_keyed_due_of(table, gyre_keyed_entry_at(table, part, other))->due_ns;
    return one_ns < other_ns || (one_ns == other_ns && one < other);
}

/* Moves the entry up, to where none above it is due later. Returns its place. */
GYRE_CALLED_ gyre_u32 gyre_due_rise_(const GYRE_KEYED_AT_ gyre_keyed_table *table,
                                     GYRE_KEYED_AT_ gyre_keyed_part *part, gyre_u32 place)
{
    const GYRE_KEYED_AT_ gyre_u32 *const heap = gyre_keyed_heap(table, part);
    const gyre_u32 number = heap[place];
    while (place && gyre_due_before_(table, part, number, heap[(place - 1) / 2])) {
        gyre_due_place_(table, part, place, heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    gyre_due_place_(table, part, place, number);
    return place;
}

/* Moves the entry down, to where none below it is due earlier. */
GYRE_CALLED_ void gyre_due_sink_(const GYRE_KEYED_AT_ gyre_keyed_table *table,
                                 GYRE_KEYED_AT_ gyre_keyed_part *part, gyre_u32 place)
{
    const GYRE_KEYED_AT_ gyre_u32 *const heap = gyre_keyed_heap(table, part);
    const gyre_u32 number = heap[place];
    for (gyre_u32 below = 2 * place + 1; below < part->reminders; below = 2 * place + 1) {
        if (below + 1 < part->reminders && gyre_due_before_(table, part, heap[below + 1], heap[below]))
            below++;
        if (!gyre_due_before_(table, part, heap[below], number))
            break;
        gyre_due_place_(table, part, place, heap[below]);
        place = below;
    }
    gyre_due_place_(table, part, place, number);
}

GYRE_CALLED_ void gyre_due_clear_(const GYRE_KEYED_AT_ gyre_keyed_table *table,
                                  GYRE_KEYED_AT_ gyre_keyed_part *part,
                                  GYRE_KEYED_AT_ gyre_keyed_entry *entry)
{
    GYRE_KEYED_AT_ gyre_keyed_due *due = gyre_keyed_due_of(table, entry);
    if (!due->place)
        return;
    const gyre_u32 place = due->place - 1, last = --part->reminders;
    due->place = 0;
    if (place == last)
        return;
    gyre_due_place_(table, part, place, gyre_keyed_heap(table, part)[last]);
    gyre_due_sink_(table, part, gyre_due_rise_(table, part, place));
}

GYRE_CALLED_ void gyre_due_set_(const GYRE_KEYED_AT_ gyre_keyed_table *table,
                                GYRE_KEYED_AT_ gyre_keyed_part *part, GYRE_KEYED_AT_ gyre_keyed_entry *entry,
                                gyre_i64 due_ns)
{
    gyre_due_clear_(table, part, entry);
    gyre_keyed_due_of(table, entry)->due_ns = due_ns;
    gyre_due_place_(table, part, part->reminders, gyre_keyed_number_of(table, part, entry));
    gyre_due_rise_(table, part, part->reminders++);
}

/* ---- the index ---- */

GYRE_CALLED_ void gyre_keyed_place_(const GYRE_KEYED_AT_ gyre_keyed_table *table,
                                    GYRE_KEYED_AT_ gyre_keyed_part *part, gyre_u64 hash, gyre_u32 number)
{
    GYRE_KEYED_AT_ gyre_u64 *const places = gyre_keyed_places(part);
    const gyre_u32 upper = (gyre_u32)(hash >> 32);
    gyre_u32 at = gyre_keyed_home(table, upper);
    while (places[at])
        at = at + 1 == table->places ? 0 : at + 1;
    places[at] = (gyre_u64)upper << 32 | (number + 1);
}

/*
 * Frees a place. The entries behind it move up as far as their home allows, so that no search ends too early and none passes
 * over places that only were in use.
 */
GYRE_CALLED_ void gyre_keyed_unplace_(const GYRE_KEYED_AT_ gyre_keyed_table *table,
                                      GYRE_KEYED_AT_ gyre_keyed_part *part, gyre_u32 hole)
{
    GYRE_KEYED_AT_ gyre_u64 *const places = gyre_keyed_places(part);
    const gyre_u32 count = table->places;
    for (gyre_u32 at = hole;;) {
        at = at + 1 == count ? 0 : at + 1;
        if (!places[at])
            break;
        const gyre_u32 home = gyre_keyed_home(table, (gyre_u32)(places[at] >> 32));
        const gyre_u32 from_home = at >= home ? at - home : at + count - home;
        const gyre_u32 from_hole = at >= hole ? at - hole : at + count - hole;
        if (from_home < from_hole)
            continue;
        places[hole] = places[at];
        hole = at;
    }
    places[hole] = 0;
}

/* ---- entries ---- */

/* Copies bytes. On a GPU both places begin at a multiple of 8 bytes, and the size is no constant. opencl_keyed.h has its own. */
#ifndef GYRE_DIALECT_OPENCL
GYRE_CALLED_ void gyre_keyed_copy_(void *to, const void *from, gyre_u32 size)
{
#ifdef GYRE_DIALECT_CUDA
    for (gyre_u32 at = 0; at < size / 8; at++)
        ((gyre_u64 *)to)[at] = ((const gyre_u64 *)from)[at];
    for (gyre_u32 at = size / 8 * 8; at < size; at++)
        ((gyre_u8 *)to)[at] = ((const gyre_u8 *)from)[at];
#else
    memcpy(to, from, size);
#endif
}
#endif

GYRE_CALLED_ void gyre_keyed_remove_(const GYRE_KEYED_AT_ gyre_keyed_table *table,
                                     GYRE_KEYED_AT_ gyre_keyed_part *part,
                                     GYRE_KEYED_AT_ gyre_keyed_entry *entry)
{
    const gyre_u32 number = gyre_keyed_number_of(table, part, entry);
    const gyre_u64 wanted = (gyre_u64)entry->hash << 32 | (number + 1);
    GYRE_KEYED_AT_ gyre_u64 *const places = gyre_keyed_places(part);
    gyre_u32 at = gyre_keyed_home(table, entry->hash);
    while (places[at] != wanted)
        at = at + 1 == table->places ? 0 : at + 1;
    gyre_keyed_unplace_(table, part, at);
    if (table->due_offset)
        gyre_due_clear_(table, part, entry);
    entry->is_free = part->free + 1;
    part->free = number + 1;
    part->count--;
}

/* The key, of the next few, that was not used for longest. The part is full, so each of its entries has a key. */
GYRE_CALLED_ GYRE_KEYED_AT_ gyre_keyed_entry *gyre_keyed_oldest_(const GYRE_KEYED_AT_ gyre_keyed_table *table,
                                                                 GYRE_KEYED_AT_ gyre_keyed_part *part)
{
    GYRE_KEYED_AT_ gyre_keyed_entry *oldest = 0;
    const gyre_u32 looks = table->capacity < GYRE_KEYED_LOOKS_ ? table->capacity : GYRE_KEYED_LOOKS_;
    for (gyre_u32 i = 0; i < looks; i++) {
        GYRE_KEYED_AT_ gyre_keyed_entry *entry = gyre_keyed_entry_at(table, part, part->hand);
        part->hand = part->hand + 1 == table->capacity ? 0 : part->hand + 1;
        if (!oldest || entry->used < oldest->used)
            oldest = entry;
    }
    return oldest;
}

/* A new entry for a key; 0: the part is full. */
GYRE_CALLED_ GYRE_KEYED_AT_ gyre_keyed_entry *gyre_keyed_add_(const GYRE_KEYED_AT_ gyre_keyed_table *table,
                                                              GYRE_KEYED_AT_ gyre_keyed_part *part,
                                                              const void *key, gyre_u64 hash)
{
    if (part->count == table->capacity)
        return 0;
    const gyre_u32 number = part->free ? part->free - 1 : part->fresh++;
    GYRE_KEYED_AT_ gyre_keyed_entry *entry = gyre_keyed_entry_at(table, part, number);
    if (part->free)
        part->free = entry->is_free - 1;
    entry->is_free = 0;
    entry->hash = (gyre_u32)(hash >> 32);
    gyre_keyed_copy_(entry + 1, key, table->key_size);
    gyre_keyed_copy_(gyre_keyed_state(table, entry),
                     (const GYRE_KEYED_AT_ unsigned char *)table + table->initial_offset, table->state_size);
    if (table->due_offset)
        gyre_keyed_due_of(table, entry)->place = 0;
    gyre_keyed_place_(table, part, hash, number);
    part->count++;
    part->born++;
    return entry;
}

#endif
