/* SPDX-License-Identifier: Apache-2.0 */
/* An arena of core/types: memory that is freed as a whole. */
#ifndef GYRE_CORE_TYPES_ARENA_H
#define GYRE_CORE_TYPES_ARENA_H

#include <stddef.h>

#include "gyre/status.h"

/** Memory that is freed as a whole. */
typedef struct gyre_arena gyre_arena;

gyre_arena *gyre_arena_create(void);
void gyre_arena_destroy(gyre_arena *arena);
/** Zeroed, aligned for any type; NULL without memory. */
void *gyre_arena_alloc(gyre_arena *arena, size_t size);
/** A NUL-terminated copy of the first `length` bytes; NULL without memory. */
char *gyre_arena_text(gyre_arena *arena, const char *text, size_t length);
/** EXHAUSTED, for whoever got no memory from an arena. */
gyre_status gyre_types_out_of_memory(void);

#endif
