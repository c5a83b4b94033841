/* SPDX-License-Identifier: Apache-2.0 */
/* Implements the pool of pool.h as a list of allocations, newest first. No locks: the pool's owner is its only user. */
#include "core/config/pool.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

struct gyre_pool_text {
    struct gyre_pool_text *older;
    _Alignas(max_align_t) char bytes[];
};

gyre_status gyre_pool_no_memory(void)
{
    return gyre_error_set(GYRE_EXHAUSTED, "no memory for the configuration");
}

char *gyre_pool_take(struct gyre_pool *pool, size_t size)
{
    struct gyre_pool_text *text = malloc(sizeof *text + size);
    if (!text) {
        pool->exhausted = true;
        return NULL;
    }
    text->older = pool->newest;
    pool->newest = text;
    return text->bytes;
}

char *gyre_pool_copy(struct gyre_pool *pool, const char *text, size_t length)
{
    char *copy = gyre_pool_take(pool, length + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *gyre_pool_format(struct gyre_pool *pool, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : gyre_pool_take(pool, (size_t)length + 1);
    if (!text)
        return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

void *gyre_pool_grow(struct gyre_pool *pool, void *items, size_t count, size_t item_size)
{
    enum { FIRST = 16 };
    if (count > 0 && (count < FIRST || (count & (count - 1)) != 0))
        return items;
    size_t room = count == 0 ? FIRST : 2 * count;
    void *grown = gyre_pool_take(pool, room * item_size);
    if (grown && count > 0)
        memcpy(grown, items, count * item_size);
    return grown;
}

void gyre_pool_finish(struct gyre_pool *pool)
{
    while (pool->newest) {
        struct gyre_pool_text *text = pool->newest;
        pool->newest = text->older;
        free(text);
    }
    pool->exhausted = false;
}
