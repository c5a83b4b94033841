/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates memory for layouts of message types from arenas. An arena is freed as a whole. */
#ifndef GYRE_CORE_TYPES_ARENA_H
#define GYRE_CORE_TYPES_ARENA_H

#include <stddef.h>

#include "gyre/status.h"

/** A list of allocations that are freed together. */
typedef struct gyre_arena gyre_arena;

gyre_arena *gyre_arena_create(void);
void gyre_arena_destroy(gyre_arena *arena);
/** Allocates `size` zeroed bytes, aligned for any type; NULL without memory. */
void *gyre_arena_alloc(gyre_arena *arena, size_t size);
/** A NUL-terminated copy of the first `length` bytes; NULL without memory. */
char *gyre_arena_text(gyre_arena *arena, const char *text, size_t length);
/** Sets the error for a caller that got no memory from an arena, and returns EXHAUSTED. */
gyre_status gyre_types_out_of_memory(void);

#endif
