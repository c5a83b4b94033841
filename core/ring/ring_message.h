/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds messages in a ring: whether a completion is there, and where the bytes of a request or a reply lie. The functions
 * are inline, because every send and receive uses them.
 */
#ifndef GYRE_CORE_RING_RING_MESSAGE_H
#define GYRE_CORE_RING_RING_MESSAGE_H

#include "core/ring/bytes.h"
#include "core/ring/copy.h"
#include "core/ring/ready.h"
#include "core/ring/ring.h"

/**
 * The length in a reply slot; gyre_slot_info: the outcome. Each is read once, atomically, because a server or a worker
 * process may write there at any time.
 */
static inline uint32_t gyre_slot_length(const gyre_slot *slot)
{
    return __atomic_load_n(&slot->length, __ATOMIC_RELAXED);
}

static inline uint32_t gyre_slot_info(const gyre_slot *slot)
{
    return __atomic_load_n(&slot->info, __ATOMIC_RELAXED);
}

/**
 * Where the bytes of a reply lie: in its slot, or, in a bridged ring, at the place that the slot names. NULL: the device
 * wrote a wrong place. `bytes`: the `bytes` of the ring.
 */
static inline const void *gyre_reply_payload(const struct gyre_ring_bytes *bytes, const gyre_slot *slot,
                                             uint32_t length)
{
    if (__builtin_expect(bytes != NULL, 0) && bytes->replies && length > GYRE_SLOT_SMALL_PAYLOAD)
        return gyre_bytes_reply(bytes, slot);
    return slot + 1;
}

/**
 * The length of a request that was taken back, for example because its deadline passed. It is longer than any message, so
 * the device refuses the request without calling the handler, and this side knows why. The second one is that of a request
 * whose bytes lie in its slot.
 */
#define GYRE_LENGTH_TAKEN_BACK       0xfffffffeu
#define GYRE_LENGTH_TAKEN_BACK_SMALL 0xfffffffdu

/** The length that takes back a request of this length. */
static inline uint32_t gyre_length_taken_back(uint32_t length)
{
    return length > GYRE_SLOT_SMALL_PAYLOAD ? GYRE_LENGTH_TAKEN_BACK : GYRE_LENGTH_TAKEN_BACK_SMALL;
}

/** Where the bytes of a request lie. They stay there until its completion is received, also while it is taken back. */
static inline const void *gyre_request_payload(const struct gyre_ring *ring, const gyre_slot *slot)
{
    const uint32_t length = __atomic_load_n(&slot->length, __ATOMIC_RELAXED);
    if (ring->bytes && ring->bytes->requests && length > GYRE_SLOT_SMALL_PAYLOAD &&
        length != GYRE_LENGTH_TAKEN_BACK_SMALL)
        return gyre_bytes_request(ring->bytes, slot);
    return slot + 1;
}

static inline bool gyre_requests_bridged(const struct gyre_ring *ring)
{
    return ring->bytes && ring->bytes->requests;
}

#endif
