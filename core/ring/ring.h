/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a ring: memory that a client and a device both see, and the places of slots in it. The client's own state (how far
 * it has sent and received, its locks, its options) is in its queue: core/queue/queue.h.
 *
 * No locks and no threads. Where a function of this folder belongs to one side (sending or receiving), the client's queue
 * calls it under that side's lock.
 */
#ifndef GYRE_CORE_RING_RING_H
#define GYRE_CORE_RING_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/ring/region.h"
#include "core/ring/ring_options.h"
#include "gyre/gyre.h"
#include "gyre/ring_layout.h"

struct gyre_ring_bytes;
struct gyre_told_times;

/** A ring. Constant once it is made, except for the memory that it points to. */
struct gyre_ring {
    struct gyre_region region;
    gyre_queue_region *shared;    /* the region's first lines */
    gyre_control_region *control; /* control words of the kernel that serves the ring; outlive it */
    gyre_queue_slots slots;       /* where the slots lie, as the device is told */
    unsigned char *requests, *replies;
    unsigned char *headers; /* slot 0's header; NULL: messages have no headers */
    gyre_u32 *seals;        /* checksums of requests, then of replies (stages/seals.c); NULL: none */
    gyre_express_line *express,
        *express_replies;               /* lines for requests, for replies (express.h); NULL: none */
    struct gyre_told_times *told_times; /* NULL: the client tells no times */
    struct gyre_ring_bytes *bytes;      /* NULL: every message lies in its slot (bytes.h) */
    uint64_t capacity, mask;            /* `mask` turns an index into its slot's number */
    uint32_t request_size, reply_size;  /* sizes of the largest messages */
    uint32_t request_least;             /* a request with an empty tail; 0: requests have no tails */
    int light_sends;                    /* argument of gyre_barrier_light towards the device */
    uint64_t first_sequence;            /* the first index */
    const uint64_t *received;           /* atomic; the client frees the slots of indices below */
};

static inline gyre_slot *gyre_request_slot(const struct gyre_ring *ring, uint64_t index)
{
    return (gyre_slot *)(void *)(ring->requests + (index & ring->mask) * ring->slots.request_stride);
}

static inline gyre_slot *gyre_reply_slot(const struct gyre_ring *ring, uint64_t index)
{
    return (gyre_slot *)(void *)(ring->replies + (index & ring->mask) * ring->slots.reply_stride);
}

/**
 * True once the completion of request `index` is in its reply slot, where it may be read. Pairs with the device's
 * release of the sequence.
 */
static inline bool gyre_reply_in_slot(const struct gyre_ring *ring, uint64_t index)
{
    return __atomic_load_n(&gyre_reply_slot(ring, index)->sequence, __ATOMIC_ACQUIRE) == index + 1;
}

/** Where the header of request `index` lies. Only for a ring whose messages have headers. */
static inline unsigned char *gyre_header_at(const struct gyre_ring *ring, uint64_t index)
{
    return ring->headers + (index & ring->mask) * ring->slots.header_size;
}

/** The first index that the client has not received. Acquire: the client has read all slots below. */
static inline uint64_t gyre_ring_received(const struct gyre_ring *ring)
{
    return __atomic_load_n(ring->received, __ATOMIC_ACQUIRE);
}

#endif
