/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates memory in cache lines of its own, for data that a worker reads or writes for each message. The
 * next block of the heap may be the client's, and a cache line that two cores write costs each core some 200
 * ns a message.
 */
#ifndef GYRE_CPU_LINES_H
#define GYRE_CPU_LINES_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/ring_layout.h"

/**
 * Returns `count` times `size` zeroed bytes in whole cache lines; NULL without memory. The caller frees them
 * with free().
 */
static inline void *cpu_lines_alloc(size_t count, size_t size)
{
    size_t whole;
    if (__builtin_mul_overflow(count, size, &whole) || __builtin_add_overflow(whole, GYRE_LINE_SIZE, &whole))
        return NULL;
    whole = whole / GYRE_LINE_SIZE * GYRE_LINE_SIZE;
    void *memory = aligned_alloc(GYRE_LINE_SIZE, whole);
    if (memory)
        memset(memory, 0, whole);
    return memory;
}

#endif
