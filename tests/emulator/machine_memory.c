/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kernels may touch: ranges in order of address, under one lock. Whoever found a range may go on using it until
 * the list's version changes: each access asks for the version, none takes the lock for a range that it knows.
 */
#include "machine_core.h"

#include <stdlib.h>
#include <string.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct span {
    uint64_t from, end;
} * spans;
static size_t span_count, span_room;

atomic_uint_fast64_t machine_memory_version = 1;

/* The first span that ends behind the address. */
static size_t span_after(uint64_t address)
{
    size_t low = 0, high = span_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (spans[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void machine_memory_add(void *from, size_t size)
{
    const uint64_t address = (uintptr_t)from;
    pthread_rwlock_wrlock(&lock);
    if (span_count == span_room) {
        span_room = span_room ? span_room * 2 : 256;
        spans = realloc(spans, span_room * sizeof *spans);
        if (!spans)
            abort(); /* of a test's machine */
    }
    const size_t at = span_after(address);
    memmove(spans + at + 1, spans + at, (span_count - at) * sizeof *spans);
    spans[at] = (struct span){address, address + size};
    span_count++;
    atomic_fetch_add(&machine_memory_version, 1);
    pthread_rwlock_unlock(&lock);
}

void machine_memory_remove(void *from)
{
    const uint64_t address = (uintptr_t)from;
    pthread_rwlock_wrlock(&lock);
    const size_t at = span_after(address);
    if (at < span_count && spans[at].from == address) {
        span_count--;
        memmove(spans + at, spans + at + 1, (span_count - at) * sizeof *spans);
    }
    atomic_fetch_add(&machine_memory_version, 1);
    pthread_rwlock_unlock(&lock);
}

bool machine_memory_find(uint64_t address, struct range *range)
{
    pthread_rwlock_rdlock(&lock);
    const size_t at = span_after(address);
    const bool found = at < span_count && spans[at].from <= address;
    if (found)
        *range = (struct range){spans[at].from, spans[at].end, atomic_load(&machine_memory_version)};
    pthread_rwlock_unlock(&lock);
    return found;
}
