/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts requests into the ring of bytes of a bridged queue (bytes.h), copied or built in place.
 *
 * Locks: producer.lock, except for gyre_bytes_has_room. `starts` and `head` are written under the lock, and threads
 * that wait for room read them without it, hence relaxed atomics; the device never looks at either.
 */
#include <string.h>

#include "core/ring/bytes.h"
#include "core/ring/copy.h"
#include "core/ring/publish.h"

enum { /* the part of a batch that is published at once, because a worker waits for it; as in queue.c */
       CHUNK_SIZE = 16384,
       CHUNK_SLOTS = CHUNK_SIZE / GYRE_LINE_SIZE
};

/* Where the oldest request that a device may still read begins; `next` is the first index that was not sent. */
static uint64_t oldest_request(const struct gyre_ring *ring, uint64_t next)
{
    const struct gyre_ring_bytes *bytes = ring->bytes;
    const uint64_t received = gyre_ring_received(ring); /* acquire: the device is done with the bytes below */
    if (received >= next)
        return __atomic_load_n(&bytes->producer.head, __ATOMIC_RELAXED);
    return __atomic_load_n(&bytes->producer.starts[received & ring->mask], __ATOMIC_RELAXED);
}

static bool bytes_fit(const struct gyre_ring_bytes *bytes, uint64_t tail, uint64_t need)
{
    return __atomic_load_n(&bytes->producer.head, __ATOMIC_RELAXED) + need - tail <=
           bytes->layout.request_bytes;
}

bool gyre_bytes_has_room(const struct gyre_ring *ring, uint64_t next, uint64_t need)
{
    return bytes_fit(ring->bytes, oldest_request(ring, next), need);
}

/* Under the lock: whether `need` bytes are free for the next request, which gets index `index`. */
static bool make_fit(const struct gyre_ring *ring, uint64_t index, uint64_t need)
{
    struct gyre_ring_bytes *bytes = ring->bytes;
    if (bytes_fit(bytes, bytes->producer.tail_seen, need))
        return true;
    bytes->producer.tail_seen = oldest_request(ring, index);
    return bytes_fit(bytes, bytes->producer.tail_seen, need);
}

static unsigned char *bytes_at(const struct gyre_ring_bytes *bytes, uint64_t position)
{
    return bytes->requests + GYRE_BRIDGE_AT(position, bytes->layout.request_bytes);
}

void gyre_bytes_skip(const struct gyre_ring *ring, uint64_t index)
{
    struct gyre_ring_bytes *bytes = ring->bytes;
    __atomic_store_n(&bytes->producer.starts[index & ring->mask], bytes->producer.head, __ATOMIC_RELAXED);
}

/* Fills in the slot of a request, except for its sequence; the request's `length` bytes lie at `position`, or in the
 * slot. */
static void slot_describe(const struct gyre_ring *ring, uint64_t index, uint32_t length, uint64_t position)
{
    gyre_slot *slot = gyre_request_slot(ring, index);
    const gyre_place place = {.position = position};
    __atomic_store_n(&ring->bytes->producer.starts[index & ring->mask], position, __ATOMIC_RELAXED);
    if (length > GYRE_SLOT_SMALL_PAYLOAD)
        memcpy(slot + 1, &place, sizeof place);
    slot->length = length;
    slot->info = 0;
}

/* Publishes the last request first: see gyre_publish_all in publish.h. */
void gyre_bytes_publish(const struct gyre_ring *ring, uint64_t first, uint64_t end)
{
    while (end != first) {
        end--;
        __atomic_store_n(&gyre_request_slot(ring, end)->sequence, end + 1,
                         __ATOMIC_RELEASE); /* pairs with the worker's acquire */
    }
}

/* Copies a request into the ring of bytes, which begins at a cache line. `length` is more than a slot's payload. */
static void copy_bytes(unsigned char *to, const unsigned char *from, uint32_t length)
{
    if (length <= GYRE_COPY_LINES_MAX)
        gyre_copy_lines(to, from, 0, length);
    else
        memcpy(to, from, length);
}

uint64_t gyre_bytes_fill(const struct gyre_ring *ring, const unsigned char *from, size_t size, uint64_t index,
                         uint64_t end)
{
    struct gyre_ring_bytes *bytes = ring->bytes;
    uint64_t head = bytes->producer.head;
    const uint64_t stop = head + CHUNK_SIZE;
    if (end - index > CHUNK_SLOTS)
        end = index + CHUNK_SLOTS;
    for (; index != end && head < stop; index++, from += size) {
        const uint32_t length = gyre_length_of(from, size, true);
        const uint64_t need = gyre_bytes_need(length);
        if (need && !make_fit(ring, index, need))
            break;
        if (need)
            copy_bytes(bytes_at(bytes, head), from, length);
        else
            memcpy(gyre_request_slot(ring, index) + 1, from, length);
        slot_describe(ring, index, length, head);
        head += need;
        __atomic_store_n(&bytes->producer.head, head, __ATOMIC_RELAXED);
    }
    return index;
}

/* ---- in place ---- */

/* Reserves only requests that begin before the ring's end, one after the other. The last of them may reach beyond
 * the ring's end, because the region has room for one more request there. */
uint64_t gyre_bytes_reserve(const struct gyre_ring *ring, size_t size, uint64_t most, uint64_t sent)
{
    struct gyre_ring_bytes *bytes = ring->bytes;
    const uint64_t each = GYRE_BRIDGE_UNITS(size), head = bytes->producer.head;
    const uint64_t to_end = bytes->layout.request_bytes - GYRE_BRIDGE_AT(head, bytes->layout.request_bytes);
    const uint64_t together = (to_end + each - 1) / each;
    uint64_t count = most < together ? most : together;
    bytes->producer.tail_seen = oldest_request(ring, sent);
    const uint64_t room = (bytes->layout.request_bytes - (head - bytes->producer.tail_seen)) / each;
    bytes->producer.reserved_each = each;
    return count < room ? count : room;
}

unsigned char *gyre_bytes_reserved(const struct gyre_ring_bytes *bytes, uint64_t number)
{
    return bytes_at(bytes, bytes->producer.head) + number * bytes->producer.reserved_each;
}

/* The last request gives back the bytes that it did not use; so does a last request that is small enough for its
 * slot. */
void gyre_bytes_commit(const struct gyre_ring *ring, uint64_t first, uint64_t end)
{
    struct gyre_ring_bytes *bytes = ring->bytes;
    const uint64_t head = bytes->producer.head, each = bytes->producer.reserved_each;
    uint64_t next = head;
    for (uint64_t index = first; index != end; index++) {
        const unsigned char *request = gyre_bytes_reserved(bytes, index - first);
        const uint32_t length = gyre_length_of(request, (size_t)each, true);
        const uint64_t position = head + (index - first) * each;
        if (length <= GYRE_SLOT_SMALL_PAYLOAD)
            memcpy(gyre_request_slot(ring, index) + 1, request, length);
        slot_describe(ring, index, length, position);
        next = position + gyre_bytes_need(length);
    }
    __atomic_store_n(&bytes->producer.head, next, __ATOMIC_RELAXED);
    gyre_bytes_publish(ring, first, end);
}
