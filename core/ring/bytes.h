/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's side of queues whose messages are stored back to back: see ring_layout.h for the layout and
 * docs/adr/bridged_rings.md for the reasons. Each member and function belongs to producers (under their lock) or to
 * consumers (under theirs), as in queue.h.
 */
#ifndef GYRE_CORE_RING_BYTES_H
#define GYRE_CORE_RING_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/gyre.h"
#include "gyre/ring_layout.h"

struct gyre_queue_options;
struct gyre_ring;

/** A ring of reply bytes, as consumers give it back. */
struct gyre_bytes_return {
    uint64_t tail;     /* bytes below it are free; the device was told so */
    uint32_t *pending; /* for each 16 bytes: how many from there on came back out of turn; or NULL */
    uint64_t pending_count;
};

struct gyre_ring_bytes {
    /* constant after creation */
    gyre_bridge layout;
    gyre_bridge_words *words;
    gyre_bridge_track *tracks;
    unsigned char *requests, *replies; /* rings of bytes; NULL: messages of that direction lie in slots */
    unsigned char *spare;

    struct {
        _Alignas(GYRE_LINE_SIZE) uint64_t head; /* the position of the next request */
        uint64_t tail_seen;                     /* a past value of where the oldest request begins */
        uint64_t *starts;                       /* where each slot's request begins */
        uint64_t reserved_each;                 /* bytes from request to request in the open reservation */
    } producer;
    _Alignas(GYRE_LINE_SIZE) struct gyre_bytes_return *returns; /* one for each track; consumers' */
};

/** The bytes that a request of that length takes in the ring of bytes; 0: it lies in its slot. */
static inline uint64_t gyre_bytes_need(size_t length)
{
    return length > GYRE_SLOT_SMALL_PAYLOAD ? GYRE_BRIDGE_UNITS(length) : 0;
}

/** All zeros for a queue whose messages lie in slots. */
const gyre_bridge *gyre_bytes_layout(const struct gyre_ring *ring);

/** Chooses the rings' sizes and appends them to the region that `shape` describes. */
void gyre_bytes_plan(const struct gyre_queue_options *options, gyre_queue_shape *shape, gyre_bridge *layout);

/** For a queue whose region is there. EXHAUSTED. */
gyre_status gyre_bytes_create(struct gyre_ring *ring, const gyre_bridge *layout);
void gyre_bytes_destroy(struct gyre_ring_bytes *bytes); /* accepts NULL */

/**
 * Under the producer lock: copies requests from index `index` on, up to `end`, until a chunk is full or there is no room; returns
 * the index behind the last one. No device sees them before gyre_bytes_publish.
 */
uint64_t gyre_bytes_fill(const struct gyre_ring *ring, const unsigned char *from, size_t size, uint64_t index,
                         uint64_t end);
/** Under the producer lock: the requests [first, end) that were filled in become visible. */
void gyre_bytes_publish(const struct gyre_ring *ring, uint64_t first, uint64_t end);

/** Under the producer lock: request `index`, which is put without it, has no bytes in the ring of bytes. */
void gyre_bytes_skip(const struct gyre_ring *ring, uint64_t index);

/** Under the producer lock: reserves up to `most` requests of `size` bytes each, from index `sent` on; 0: no room. */
uint64_t gyre_bytes_reserve(const struct gyre_ring *ring, size_t size, uint64_t most, uint64_t sent);
/** Under the producer lock: reserved request `number`. */
unsigned char *gyre_bytes_reserved(const struct gyre_ring_bytes *bytes, uint64_t number);
/** Under the producer lock: publishes the first reserved requests as indices [first, end). */
void gyre_bytes_commit(const struct gyre_ring *ring, uint64_t first, uint64_t end);

/** Whether the ring of request bytes, which is there, has `need` bytes now, when `next` is the first index that was not sent; a
 * hint without the lock. */
bool gyre_bytes_has_room(const struct gyre_ring *ring, uint64_t next, uint64_t need);

/** Under the consumer lock: completions [first, end) were read, and the cursor moved over them. */
void gyre_bytes_give_back(const struct gyre_ring *ring, uint64_t first, uint64_t end);

/**
 * For a ring with tracks, while there is no device; under the consumer lock. Sets the tracks up for the next device:
 * only completions that are there still use bytes.
 */
void gyre_bytes_resume(const struct gyre_ring *ring);

/** Where the bytes of a request lie that is longer than its slot. */
const void *gyre_bytes_request(const struct gyre_ring_bytes *bytes, const gyre_slot *slot);
/** Where the bytes of a reply lie whose slot names a place in a track; NULL: the slot names no such place. */
const void *gyre_bytes_reply(const struct gyre_ring_bytes *bytes, const gyre_slot *slot);

#endif
