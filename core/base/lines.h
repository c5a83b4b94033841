/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory in cache lines of its own. What a thread writes or reads for each message must not share a line with
 * the next block of the heap, which may be anybody's: two words of one line that two cores write cost each of
 * them some 200 ns a message, by the luck of the allocator.
 */
#ifndef GYRE_CORE_BASE_LINES_H
#define GYRE_CORE_BASE_LINES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/ring_layout.h"

/** `size` rounded up to whole lines; 0 when that is more than a size_t holds. */
static inline size_t gyre_lines_size(size_t size)
{
    return size > SIZE_MAX - GYRE_LINE_SIZE ? 0
                                            : (size + GYRE_LINE_SIZE - 1) / GYRE_LINE_SIZE * GYRE_LINE_SIZE;
}

/** At least `size` bytes, zeroed, and nobody else's in their first and last lines. NULL without memory;
 * free(). */
static inline void *gyre_lines_alloc(size_t size)
{
    size_t whole = gyre_lines_size(size > 0 ? size : 1);
    void *memory = whole > 0 ? aligned_alloc(GYRE_LINE_SIZE, whole) : NULL;
    if (memory)
        memset(memory, 0, whole);
    return memory;
}

#endif
