/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of messages, in a ring that grows (cpu_stash.h). Takes no lock. */
#include "backends/cpu/links/cpu_stash.h"

#include <stdlib.h>
#include <string.h>

#include "backends/cpu/links/cpu_link_ring.h"

enum { LEAST = 16 /* copies that the first allocation has room for, a power of two */ };

static size_t cell_size(const struct cpu_worker *worker)
{
    const size_t bytes = sizeof(struct cpu_stashed) + worker->resident->kernel->sizes.request;
    return (bytes + GYRE_LINE_SIZE - 1) / GYRE_LINE_SIZE * GYRE_LINE_SIZE;
}

static struct cpu_stashed *cell_at(const struct cpu_worker *worker, uint32_t index)
{
    const struct cpu_stash *stash = &worker->links.stash;
    return (struct cpu_stashed *)(void *)(stash->cells + (index & (stash->capacity - 1)) * cell_size(worker));
}

/* Doubles the room. The copies keep their order, and get places from 0 on. */
static bool grow(struct cpu_worker *worker)
{
    struct cpu_stash *stash = &worker->links.stash;
    const size_t size = cell_size(worker);
    const uint32_t capacity = stash->capacity ? 2 * stash->capacity : LEAST;
    unsigned char *cells = capacity ? aligned_alloc(GYRE_LINE_SIZE, capacity * size) : NULL;
    if (!cells)
        return false;
    for (uint32_t i = 0; i < stash->count; i++)
        memcpy(cells + i * size, cell_at(worker, stash->first + i), size);
    free(stash->cells);
    stash->cells = cells;
    stash->capacity = capacity;
    stash->first = 0;
    return true;
}

bool cpu_stash_add(struct cpu_worker *worker, const gyre_link_ring *ring, const gyre_link_slot *slot)
{
    struct cpu_stash *stash = &worker->links.stash;
    const gyre_u32 size = worker->resident->kernel->sizes.request;
    if (stash->count == stash->capacity && !grow(worker))
        return false;
    struct cpu_stashed *stashed = cell_at(worker, stash->first + stash->count);
    stashed->origin = slot->origin;
    stashed->length = slot->length;
    stashed->has_ask = ring->talk != 0;
    if (ring->talk)
        memcpy(&stashed->ask, slot + 1, sizeof stashed->ask);
    /* a message of a wrong length is refused for it */
    memcpy(stashed + 1, payload_of(ring, slot), slot->length < size ? slot->length : size);
    stash->count++;
    return true;
}

const struct cpu_stashed *cpu_stash_first(const struct cpu_worker *worker)
{
    return worker->links.stash.count ? cell_at(worker, worker->links.stash.first) : NULL;
}

void cpu_stash_pass(struct cpu_worker *worker)
{
    worker->links.stash.first++;
    worker->links.stash.count--;
}

void cpu_stash_finish(struct cpu_worker *worker)
{
    free(worker->links.stash.cells);
}
