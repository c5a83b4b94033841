/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements the arena of arena.h: allocations that are freed together, so that a half-built layout needs no clean-up of
 * its own. One thread at a time. Must not be used for memory that grows with traffic.
 */
#include "core/types/arena.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

typedef struct arena_block {
    struct arena_block *next;
    max_align_t memory[];
} arena_block;

struct gyre_arena {
    arena_block *blocks;
};

gyre_arena *gyre_arena_create(void)
{
    return calloc(1, sizeof(gyre_arena));
}

void gyre_arena_destroy(gyre_arena *arena)
{
    if (!arena)
        return;
    for (arena_block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(arena);
}

void *gyre_arena_alloc(gyre_arena *arena, size_t size)
{
    arena_block *block = calloc(1, sizeof *block + size);
    if (!block)
        return NULL;
    block->next = arena->blocks;
    arena->blocks = block;
    return block->memory;
}

char *gyre_arena_text(gyre_arena *arena, const char *text, size_t length)
{
    char *copy = gyre_arena_alloc(arena, length + 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

gyre_status gyre_types_out_of_memory(void)
{
    return gyre_error_set(GYRE_EXHAUSTED, "out of memory while computing the layout of a message type");
}
