/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates memory in cache lines of its own. Memory that a thread uses for each message must not share a line with the next
 * block of the heap, which any other thread may use. If two cores write two words of one line, each of them loses some
 * 200 ns a message.
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

/** Allocates at least `size` zeroed bytes that share no cache line with other memory. NULL without memory. The caller calls
 * free. */
static inline void *gyre_lines_alloc(size_t size)
{
    size_t whole = gyre_lines_size(size > 0 ? size : 1);
    void *memory = whole > 0 ? aligned_alloc(GYRE_LINE_SIZE, whole) : NULL;
    if (memory)
        memset(memory, 0, whole);
    return memory;
}

#endif
