/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Publishes requests: stores the slot's length and sequence, after which the device sees the request. Both ways of sending
 * use it, by copy (put.h) and in place (reserve.c). All functions run under the producer lock.
 */
#ifndef GYRE_CORE_RING_PUBLISH_H
#define GYRE_CORE_RING_PUBLISH_H

#include <string.h>

#include "core/ring/ring.h"

#define GYRE_INLINE __attribute__((always_inline)) static inline

/* Where the request slots lie: a copy that stays in registers. A compiler would read the queue's own members again after
 * each store to a slot, because such a store might change them. */
struct gyre_slots {
    unsigned char *base;
    uint64_t mask;
    uint32_t stride;
};

static inline struct gyre_slots gyre_slots_of(const struct gyre_ring *ring)
{
    return (struct gyre_slots){ring->requests, ring->mask, ring->slots.request_stride};
}

static inline gyre_slot *gyre_slot_at(struct gyre_slots slots, uint64_t index)
{
    return (gyre_slot *)(void *)(slots.base + (index & slots.mask) * slots.stride);
}

/* The length of a request: `size`, or, if requests have tails, the length in the request's first word, but never more than
 * the `size` bytes that can be read. `tails` is a constant on quick paths, so that requests without tails pay nothing. */
GYRE_INLINE uint32_t gyre_length_of(const void *request, size_t size, bool tails)
{
    uint32_t used = (uint32_t)size;
    if (tails)
        memcpy(&used, request, sizeof used);
    return used < size ? used : (uint32_t)size;
}

GYRE_INLINE void gyre_publish(gyre_slot *slot, uint64_t index, size_t size, bool tails)
{
    slot->length = gyre_length_of(slot + 1, size, tails);
    slot->info = 0;
    __atomic_store_n(&slot->sequence, index + 1, __ATOMIC_RELEASE); /* pairs with the worker's acquire */
}

/*
 * Publishes requests [first, end), the last one first. A worker that sees the first request looks ahead at the next slots.
 * If the first were published first, the worker would take each cache line away before the sequence is stored there.
 */
GYRE_INLINE void gyre_publish_all(struct gyre_slots slots, uint64_t first, uint64_t end, size_t size,
                                  bool tails)
{
    while (end != first) {
        end--;
        gyre_publish(gyre_slot_at(slots, end), end, size, tails);
    }
}

#endif
