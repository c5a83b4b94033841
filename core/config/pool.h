/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts and arrays that live and die together: a configuration keeps all that it is made of in one pool.
 *
 * One that runs out of memory remembers it, so that a caller may check once at the end (`exhausted`).
 * Threads: one at a time.
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

/** EXHAUSTED, with the sentence for it: what to return where a pool gave NULL. */
gyre_status gyre_pool_no_memory(void);

/** Room for `size` bytes, not cleared; NULL without memory. Lives until the pool's finish. */
char *gyre_pool_take(struct gyre_pool *pool, size_t size);
/** A copy of `length` bytes, NUL-terminated; NULL without memory. */
char *gyre_pool_copy(struct gyre_pool *pool, const char *text, size_t length);
/** A formatted text; NULL without memory. */
char *gyre_pool_format(struct gyre_pool *pool, const char *format, ...) __attribute__((format(printf, 2, 3)));
/**
 * An array with room for one more item behind its first `count`, which are kept; it may have moved. It grows
 * by doubling, so call it before each append, from an array of NULL on. NULL without memory.
 */
void *gyre_pool_grow(struct gyre_pool *pool, void *items, size_t count, size_t item_size);
/** Frees every text and leaves an empty pool. A pool of zero bytes is an empty one. */
void gyre_pool_finish(struct gyre_pool *pool);

#endif
