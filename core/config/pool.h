/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates texts and arrays that are freed together. A configuration keeps all its memory in one pool.
 *
 * A pool that runs out of memory sets `exhausted`, so that a caller may check once at the end. Threads: one at a time.
 */
#ifndef GYRE_CORE_CONFIG_POOL_H
#define GYRE_CORE_CONFIG_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/status.h"

struct gyre_pool {
    struct gyre_pool_text *newest;
    bool exhausted;
};

/** Sets the error for a caller that got NULL from a pool, and returns EXHAUSTED. */
gyre_status gyre_pool_no_memory(void);

/** Allocates `size` bytes, not cleared; NULL without memory. They live until gyre_pool_finish. */
char *gyre_pool_take(struct gyre_pool *pool, size_t size);
/** Copies `length` bytes and puts a NUL behind them; NULL without memory. */
char *gyre_pool_copy(struct gyre_pool *pool, const char *text, size_t length);
/** Formats a text into the pool; NULL without memory. */
char *gyre_pool_format(struct gyre_pool *pool, const char *format, ...) __attribute__((format(printf, 2, 3)));
/**
 * Makes room for one more item in an array of `count` items, and returns the array, which may have moved. The array grows by
 * doubling. Call this before each append; the first array is NULL. NULL without memory.
 */
void *gyre_pool_grow(struct gyre_pool *pool, void *items, size_t count, size_t item_size);
/** Frees every text and leaves an empty pool. A pool of zero bytes is an empty one. */
void gyre_pool_finish(struct gyre_pool *pool);

#endif
