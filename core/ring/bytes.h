/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores the messages of a bridged queue back to back in rings of bytes, instead of in their slots; this is the host's side.
 * ring_layout.h describes the layout, docs/adr/bridged_rings.md gives the reasons. Senders write the bytes of requests.
 * Workers write the bytes of replies, each block of a device into a ring of its own, a track. Each member and function
 * belongs either to producers (under the producer lock) or to consumers (under the consumer lock), as in queue.h.
 */
#ifndef GYRE_CORE_RING_BYTES_H
#define GYRE_CORE_RING_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/gyre.h"
#include "gyre/ring_layout.h"

struct gyre_queue_options;
struct gyre_ring;

/** How far consumers have given one track (a ring of reply bytes) back to the device. */
struct gyre_bytes_return {
    uint64_t tail;     /* bytes below it are free; the device was told so */
    uint32_t *pending; /* for each 16 bytes: how many bytes from there on came back out of turn; or NULL */
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
    _Alignas(GYRE_LINE_SIZE) struct gyre_bytes_return *returns; /* one a track; belongs to consumers */
};

/** The bytes that a request of that length takes in the ring of bytes; 0: it lies in its slot. */
static inline uint64_t gyre_bytes_need(size_t length)
{
    return length > GYRE_SLOT_SMALL_PAYLOAD ? GYRE_BRIDGE_UNITS(length) : 0;
}

/** Where the rings of bytes lie in the region, as the device is told; all zeros when every message lies in its slot. */
const gyre_bridge *gyre_bytes_layout(const struct gyre_ring *ring);

/** Chooses the rings' sizes and appends them to the region that `shape` describes. */
void gyre_bytes_plan(const struct gyre_queue_options *options, gyre_queue_shape *shape, gyre_bridge *layout);

/** Makes ring->bytes for a ring whose region exists. EXHAUSTED; the caller calls gyre_bytes_destroy after a failure, too. */
gyre_status gyre_bytes_create(struct gyre_ring *ring, const gyre_bridge *layout);
void gyre_bytes_destroy(struct gyre_ring_bytes *bytes); /* frees it; accepts NULL */

/**
 * Under the producer lock: copies requests [index, end) from `from`, where they lie `size` bytes apart. Stops when there is
 * no room, or when a chunk is full (the bytes that a waiting worker should see at once). Returns the index behind the last
 * copied request. No device sees the requests before gyre_bytes_publish.
 */
uint64_t gyre_bytes_fill(const struct gyre_ring *ring, const unsigned char *from, size_t size, uint64_t index,
                         uint64_t end);
/** Under the producer lock: makes requests [first, end), which gyre_bytes_fill copied, visible to the device. */
void gyre_bytes_publish(const struct gyre_ring *ring, uint64_t first, uint64_t end);

/** Under the producer lock: notes that request `index` has no bytes in the ring of bytes, because it is sent without a
 * payload. */
void gyre_bytes_skip(const struct gyre_ring *ring, uint64_t index);

/** Under the producer lock: reserves up to `most` requests of `size` bytes each, from index `sent` on; 0: no room. */
uint64_t gyre_bytes_reserve(const struct gyre_ring *ring, size_t size, uint64_t most, uint64_t sent);
/** Under the producer lock: where request `number` of the open reservation is built. */
unsigned char *gyre_bytes_reserved(const struct gyre_ring_bytes *bytes, uint64_t number);
/** Under the producer lock: publishes the first reserved requests as indices [first, end). */
void gyre_bytes_commit(const struct gyre_ring *ring, uint64_t first, uint64_t end);

/** Without the lock: whether the ring of request bytes has `need` free bytes, as a hint. `next`: the first index that was not
 * sent. Only for a ring with request bytes. */
bool gyre_bytes_has_room(const struct gyre_ring *ring, uint64_t next, uint64_t need);

/** Under the consumer lock: gives the bytes of completions [first, end) back to the device. The receivers have read them,
 * and the cursor has moved over them. */
void gyre_bytes_give_back(const struct gyre_ring *ring, uint64_t first, uint64_t end);

/**
 * Under the consumer lock, while there is no device, for a ring with reply bytes: sets the tracks up for the next device.
 * Only the bytes of completions that are in their slots stay in use.
 */
void gyre_bytes_resume(const struct gyre_ring *ring);

/** Where the bytes of a request lie. The request is longer than its slot's payload. */
const void *gyre_bytes_request(const struct gyre_ring_bytes *bytes, const gyre_slot *slot);
/** Where the bytes of a reply lie, according to the place that its slot names. The reply is longer than its slot's payload.
 * NULL: the device wrote a track that does not exist. */
const void *gyre_bytes_reply(const struct gyre_ring_bytes *bytes, const gyre_slot *slot);

#endif
