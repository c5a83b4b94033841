/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of a keyed actor: the state of each of its keys. The core makes it and reads it, the device changes it; both
 * include this text.
 *
 * A table has parts, a power of two of them. The hash of a key says in which part the key lies, and the part's number which
 * block owns it: a block alone changes its parts, so there are no locks and no atomics. Parts do not depend on the number of
 * blocks, so a table that was saved is good for a launch with any number of them.
 *
 * A part has entries, each with a key and its state, and an index with open addressing: twice as many places as entries, each
 * with 32 bits of a hash and the number of an entry. The hash is SipHash-1-3 with a secret of the table, so that who chooses
 * keys cannot choose those that collide. A part is never larger than it was made: its memory is declared.
 *
 * Where keys have reminders, each entry has a gyre_keyed_due, and each part a heap: the numbers of the entries that have a reminder,
 * in an order in which none is due before the one at half its place.
 *
 * Internal. Stability: none; a checkpoint holds the version.
 */
#ifndef GYRE_KEYED_LAYOUT_H
#define GYRE_KEYED_LAYOUT_H

#include "gyre/key_hash.h"
#include "gyre/types.h"

/*
 * GYRE_KEYED_INLINE_ goes before each function, GYRE_KEYED_BYTES_ makes a pointer to bytes that may be written. GYRE_KEYED_AT_ says in
 * which memory a table lies, where a language tells memories apart.
 */
#ifdef GYRE_DIALECT_OPENCL
#define GYRE_KEYED_AT_ __global
#else
#define GYRE_KEYED_AT_
#endif
#if defined(GYRE_DIALECT_CUDA) || defined(GYRE_DIALECT_OPENCL)
#define GYRE_KEYED_INLINE_         GYRE_HELPER
#define GYRE_KEYED_BYTES_(pointer) ((GYRE_KEYED_AT_ unsigned char *)(pointer))
#else
#include <string.h>
#define GYRE_KEYED_INLINE_         static inline
#define GYRE_KEYED_BYTES_(pointer) ((unsigned char *)(gyre_u64)(uintptr_t)(pointer))
#endif

#define GYRE_KEYED_MAGIC    0x4459454bu /* "KEYD" */
#define GYRE_KEYED_VERSION  2u
#define GYRE_KEYED_KEY_MAX  64 /* bytes of a key */
#define GYRE_KEYED_NOWHERE  0xffffffffu
#define GYRE_KEYED_NO_DUE   ((gyre_i64)0x7fffffffffffffff) /* later than any reminder */
#define GYRE_KEYED_ALIGN(n) (((gyre_u64)(n) + 7) / 8 * 8)

#define GYRE_KEYED_PARTS_LOG2_MAX 8

/** The head of a table. Constant after it was made. */
typedef struct gyre_keyed_table {
    gyre_u32 magic, version;
    gyre_u64 size;  /* bytes of the whole table */
    gyre_u64 keys;  /* as it was asked for */
    gyre_u64 types; /* a hash of what the key and the state are */
    gyre_u64 seed[2];
    gyre_u64 initial_offset; /* a state, from which each new one is copied */
    gyre_u64 parts_offset, part_size;
    gyre_u32 parts_log2;
    gyre_u32 capacity, places; /* of each part: its entries, and the places of its index */
    gyre_u32 entries_offset;   /* in a part */
    gyre_u32 key_size, state_offset, state_size;
    gyre_u32 reserved;
    gyre_u64 entry_size;
    gyre_u64 due_offset;  /* in an entry: its gyre_keyed_due; 0: keys have no reminders */
    gyre_u64 heap_offset; /* in a part */
    gyre_u64 boot;        /* which start of the machine the times of reminders count from, */
    gyre_u64 clock_ns;    /* and how far the clock of the day was ahead of that clock then */
} gyre_keyed_table;

/** The head of a part; behind it lie the places of its index, then its entries. All zero: it is empty. */
typedef struct gyre_keyed_part {
    gyre_u64 clock;     /* how often one of its keys was used */
    gyre_u64 born;      /* how many keys came, */
    gyre_u64 left;      /* and how many left to make room */
    gyre_u32 count;     /* keys that it has */
    gyre_u32 fresh;     /* entries from this number on were never used */
    gyre_u32 free;      /* 1 + the number of the first entry that is free again; 0: none */
    gyre_u32 hand;      /* where the search for the key that was not used for longest goes on */
    gyre_u32 reminders; /* entries in the heap */
    gyre_u32 reserved_reminders;
    gyre_u32 canary_handled
        [2]; /* messages, modulo 2^32, that went to the handler of a canary that works, and to the new one; */
    gyre_u32 canary_failed[2]; /* and those of them that failed */
} gyre_keyed_part;

/** An entry; behind it lie the key, and the state at gyre_keyed_table.state_offset. */
typedef struct gyre_keyed_entry {
    gyre_u64 used;    /* the part's clock when the key was used last */
    gyre_u32 hash;    /* of its key, the upper half */
    gyre_u32 is_free; /* 0: it has a key; else 1 + the next free entry's field gyre_keyed_part.free */
} gyre_keyed_entry;

/** When an entry's key is reminded. */
typedef struct gyre_keyed_due {
    gyre_i64 due_ns; /* below 0: before the present start of the machine */
    gyre_u32 place;  /* 1 + where the entry's number lies in the heap; 0: the key has no reminder */
    gyre_u32 reserved;
} gyre_keyed_due;

/* ---- places ---- */

GYRE_KEYED_INLINE_ GYRE_KEYED_AT_ gyre_keyed_part *
gyre_keyed_part_at(const GYRE_KEYED_AT_ gyre_keyed_table *table, gyre_u32 number)
{
    return (GYRE_KEYED_AT_ gyre_keyed_part *)(GYRE_KEYED_AT_ void *)(GYRE_KEYED_BYTES_(table) +
                                                                     table->parts_offset +
                                                                     number * table->part_size);
}

GYRE_KEYED_INLINE_ GYRE_KEYED_AT_ gyre_u64 *gyre_keyed_places(GYRE_KEYED_AT_ gyre_keyed_part *part)
{
    return (GYRE_KEYED_AT_ gyre_u64 *)(GYRE_KEYED_AT_ void *)(part + 1);
}

GYRE_KEYED_INLINE_ GYRE_KEYED_AT_ gyre_keyed_entry *
gyre_keyed_entry_at(const GYRE_KEYED_AT_ gyre_keyed_table *table, GYRE_KEYED_AT_ gyre_keyed_part *part,
                    gyre_u32 number)
{
    return (GYRE_KEYED_AT_ gyre_keyed_entry *)(GYRE_KEYED_AT_ void *)((GYRE_KEYED_AT_ unsigned char *)part +
                                                                      table->entries_offset +
                                                                      (gyre_u64)number * table->entry_size);
}

GYRE_KEYED_INLINE_ gyre_u32 gyre_keyed_number_of(const GYRE_KEYED_AT_ gyre_keyed_table *table,
                                                 const GYRE_KEYED_AT_ gyre_keyed_part *part,
                                                 const GYRE_KEYED_AT_ gyre_keyed_entry *entry)
{
    return (gyre_u32)((gyre_u64)((const GYRE_KEYED_AT_ unsigned char *)entry -
                                 (const GYRE_KEYED_AT_ unsigned char *)part - table->entries_offset) /
                      table->entry_size);
}

GYRE_KEYED_INLINE_ GYRE_KEYED_AT_ gyre_keyed_due *
gyre_keyed_due_of(const GYRE_KEYED_AT_ gyre_keyed_table *table, GYRE_KEYED_AT_ gyre_keyed_entry *entry)
{
    return (GYRE_KEYED_AT_ gyre_keyed_due *)(GYRE_KEYED_AT_ void *)((GYRE_KEYED_AT_ unsigned char *)entry +
                                                                    table->due_offset);
}

GYRE_KEYED_INLINE_ GYRE_KEYED_AT_ gyre_u32 *gyre_keyed_heap(const GYRE_KEYED_AT_ gyre_keyed_table *table,
                                                            GYRE_KEYED_AT_ gyre_keyed_part *part)
{
    return (GYRE_KEYED_AT_ gyre_u32 *)(GYRE_KEYED_AT_ void *)((GYRE_KEYED_AT_ unsigned char *)part +
                                                              table->heap_offset);
}

/* ---- hashes ---- */

GYRE_KEYED_INLINE_ gyre_u64 gyre_keyed_hash(const GYRE_KEYED_AT_ gyre_keyed_table *table, const void *key)
{
    const gyre_u64 seed[2] = {table->seed[0], table->seed[1]};
    if (table->key_size == 8) /* a constant size, for the compiler */
        return gyre_keyed_hash_bytes(seed, key, 8);
    return gyre_keyed_hash_bytes(seed, key, table->key_size);
}

/** The part that a key of this hash lies in. */
GYRE_KEYED_INLINE_ gyre_u32 gyre_keyed_part_of(const GYRE_KEYED_AT_ gyre_keyed_table *table, gyre_u64 hash)
{
    return (gyre_u32)hash & ((1u << table->parts_log2) - 1);
}

/** The block, of `blocks`, that owns a key of this hash. */
GYRE_KEYED_INLINE_ gyre_u32 gyre_keyed_owner(const GYRE_KEYED_AT_ gyre_keyed_table *table, gyre_u64 hash,
                                             gyre_u32 blocks)
{
    return (gyre_u32)(((gyre_u64)gyre_keyed_part_of(table, hash) * blocks) >> table->parts_log2);
}

/** The place of the index where the search for a hash's upper half begins. */
GYRE_KEYED_INLINE_ gyre_u32 gyre_keyed_home(const GYRE_KEYED_AT_ gyre_keyed_table *table, gyre_u32 upper)
{
    return (gyre_u32)((gyre_u64)upper * table->places >> 32);
}

/* ---- finding ---- */

/** Whether two keys, each of which begins at a multiple of 8 bytes on a GPU, are equal. */
GYRE_KEYED_INLINE_ int gyre_keyed_same(const GYRE_KEYED_AT_ void *one, const void *other, gyre_u32 size)
{
#if defined(GYRE_DIALECT_CUDA) || defined(GYRE_DIALECT_OPENCL)
    for (gyre_u32 at = 0; at < size / 8; at++)
        if (((const GYRE_KEYED_AT_ gyre_u64 *)one)[at] != ((const gyre_u64 *)other)[at])
            return 0;
    for (gyre_u32 at = size / 8 * 8; at < size; at++)
        if (((const GYRE_KEYED_AT_ gyre_u8 *)one)[at] != ((const gyre_u8 *)other)[at])
            return 0;
    return 1;
#else
    return memcmp(one, other, size) == 0;
#endif
}

/**
 * The place of the index that holds a key; NOWHERE when the part does not have it. The search ends at a free place, and always:
 * half of the places are free.
 */
GYRE_KEYED_INLINE_ gyre_u32 gyre_keyed_find(const GYRE_KEYED_AT_ gyre_keyed_table *table,
                                            GYRE_KEYED_AT_ gyre_keyed_part *part, const void *key,
                                            gyre_u64 hash)
{
    const GYRE_KEYED_AT_ gyre_u64 *const places = gyre_keyed_places(part);
    const gyre_u32 upper = (gyre_u32)(hash >> 32);
    gyre_u32 at = gyre_keyed_home(table, upper);
    for (gyre_u32 looks = 0; places[at] && looks < table->places; looks++) {
        if ((gyre_u32)(places[at] >> 32) == upper) {
            const GYRE_KEYED_AT_ gyre_keyed_entry *entry =
                gyre_keyed_entry_at(table, part, (gyre_u32)places[at] - 1);
            if (gyre_keyed_same(entry + 1, key, table->key_size))
                return at;
        }
        at = at + 1 == table->places ? 0 : at + 1;
    }
    return GYRE_KEYED_NOWHERE;
}

/** The state in an entry. */
GYRE_KEYED_INLINE_ GYRE_KEYED_AT_ void *gyre_keyed_state(const GYRE_KEYED_AT_ gyre_keyed_table *table,
                                                         GYRE_KEYED_AT_ gyre_keyed_entry *entry)
{
    return (GYRE_KEYED_AT_ unsigned char *)entry + table->state_offset;
}

#endif
