/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sending into queues whose requests are stored back to back.
 *
 * Locks: producer.lock, except for gyre_bridge_has_room. `starts` and `head` are written under it and read
 * without by those who wait for room, hence relaxed atomics; the device never looks at either.
 */
#include <string.h>

#include "core/ring/bytes.h"
#include "core/ring/copy.h"
#include "core/queue/publish.h"

enum { /* of a batch that a worker waits for; as in queue.c */
       CHUNK_SIZE = 16384,
       CHUNK_SLOTS = CHUNK_SIZE / GYRE_LINE_SIZE
};

/* Where the oldest request begins that may still be read,
 * when `next` is the first index that is not there. */
static uint64_t oldest(const gyre_queue *queue, uint64_t next)
{
    const struct gyre_queue_bridge *bridge = queue->bridge;
    const uint64_t received = gyre_received(queue); /* acquire: the device is done with what lies below */
    if (received >= next)
        return __atomic_load_n(&bridge->producer.head, __ATOMIC_RELAXED);
    return __atomic_load_n(&bridge->producer.starts[received & queue->mask], __ATOMIC_RELAXED);
}

static bool fits(const struct gyre_queue_bridge *bridge, uint64_t tail, uint64_t need)
{
    return __atomic_load_n(&bridge->producer.head, __ATOMIC_RELAXED) + need - tail <=
           bridge->layout.request_bytes;
}

bool gyre_bridge_has_room(const gyre_queue *queue, uint64_t need)
{
    if (!queue->bridge || !queue->bridge->requests || need == 0)
        return true;
    return fits(queue->bridge, oldest(queue, gyre_queue_next_index(queue)), need);
}

/* Under the lock: whether request `index`, the next one, finds `need` bytes. */
static bool make_fit(gyre_queue *queue, uint64_t index, uint64_t need)
{
    struct gyre_queue_bridge *bridge = queue->bridge;
    if (fits(bridge, bridge->producer.tail_seen, need))
        return true;
    bridge->producer.tail_seen = oldest(queue, index);
    return fits(bridge, bridge->producer.tail_seen, need);
}

static gyre_slot *slot_of(const gyre_queue *queue, uint64_t index)
{
    return gyre_request_slot(queue, index);
}

static unsigned char *bytes_at(const struct gyre_queue_bridge *bridge, uint64_t position)
{
    return bridge->requests + GYRE_BRIDGE_AT(position, bridge->layout.request_bytes);
}

void gyre_bridge_skip(gyre_queue *queue, uint64_t index)
{
    struct gyre_queue_bridge *bridge = queue->bridge;
    __atomic_store_n(&bridge->producer.starts[index & queue->mask], bridge->producer.head, __ATOMIC_RELAXED);
}

/* The slot of a request but for its sequence; `length` bytes of it lie at `position`, or in the slot. */
static void describe(gyre_queue *queue, uint64_t index, uint32_t length, uint64_t position)
{
    gyre_slot *slot = slot_of(queue, index);
    const gyre_place place = {.position = position};
    __atomic_store_n(&queue->bridge->producer.starts[index & queue->mask], position, __ATOMIC_RELAXED);
    if (length > GYRE_SLOT_SMALL_PAYLOAD)
        memcpy(slot + 1, &place, sizeof place);
    slot->length = length;
    slot->info = 0;
}

/* The last one first: see gyre_publish_all in publish.h. */
static void publish(gyre_queue *queue, uint64_t first, uint64_t end)
{
    while (end != first) {
        end--;
        __atomic_store_n(&slot_of(queue, end)->sequence, end + 1,
                         __ATOMIC_RELEASE); /* pairs with the worker's acquire */
    }
}

/* The ring of bytes begins with a line, and so whole
 * lines of it are lines. `length` is more than a slot's. */
static void copy_bytes(unsigned char *to, const unsigned char *from, uint32_t length)
{
    if (length <= GYRE_COPY_LINES_MAX)
        gyre_copy_lines(to, from, 0, length);
    else
        memcpy(to, from, length);
}

/* Copies requests until a chunk is full or there is no room; returns the index behind the last one. */
static uint64_t fill_chunk(gyre_queue *queue, const unsigned char *from, size_t size, uint64_t index,
                           uint64_t end)
{
    struct gyre_queue_bridge *bridge = queue->bridge;
    uint64_t head = bridge->producer.head;
    const uint64_t stop = head + CHUNK_SIZE;
    if (end - index > CHUNK_SLOTS)
        end = index + CHUNK_SLOTS;
    for (; index != end && head < stop; index++, from += size) {
        const uint32_t length = gyre_length_of(from, size, true);
        const uint64_t need = gyre_bridge_need(length);
        if (need && !make_fit(queue, index, need))
            break;
        if (need)
            copy_bytes(bytes_at(bridge, head), from, length);
        else
            memcpy(slot_of(queue, index) + 1, from, length);
        describe(queue, index, length, head);
        head += need;
        __atomic_store_n(&bridge->producer.head, head, __ATOMIC_RELAXED);
    }
    return index;
}

uint64_t gyre_bridge_put(gyre_queue *queue, const unsigned char *from, size_t size, uint64_t index,
                         uint64_t most, int mark)
{
    const uint64_t begin = index, end = index + most;
    while (index != end) {
        const uint64_t first = index;
        index = fill_chunk(queue, from + (first - begin) * size, size, first, end);
        if (index == first)
            break;
        for (uint64_t i = first; mark != GYRE_MARK_SEND && i != index; i++)
            gyre_mark_set_locked(queue, i, (enum gyre_mark)mark);
        publish(queue, first, index);
    }
    return index - begin;
}

/* ---- in place ---- */

/* As many as lie one behind the other in memory: the last one may reach beyond the ring's end, no other. */
uint64_t gyre_bridge_reserve(gyre_queue *queue, size_t size, uint64_t most)
{
    struct gyre_queue_bridge *bridge = queue->bridge;
    const uint64_t each = GYRE_BRIDGE_UNITS(size), head = bridge->producer.head;
    const uint64_t to_end = bridge->layout.request_bytes - GYRE_BRIDGE_AT(head, bridge->layout.request_bytes);
    const uint64_t together = (to_end + each - 1) / each;
    uint64_t count = most < together ? most : together;
    bridge->producer.tail_seen = oldest(queue, queue->producer.sent);
    const uint64_t room = (bridge->layout.request_bytes - (head - bridge->producer.tail_seen)) / each;
    bridge->producer.reserved_each = each;
    return count < room ? count : room;
}

unsigned char *gyre_bridge_reserved(const gyre_queue *queue, uint64_t number)
{
    const struct gyre_queue_bridge *bridge = queue->bridge;
    return bytes_at(bridge, bridge->producer.head) + number * bridge->producer.reserved_each;
}

/* The last one gives back what it did not use; so does one that is small enough for its slot. */
void gyre_bridge_commit(gyre_queue *queue, uint64_t first, uint64_t end)
{
    struct gyre_queue_bridge *bridge = queue->bridge;
    const uint64_t head = bridge->producer.head, each = bridge->producer.reserved_each;
    uint64_t next = head;
    for (uint64_t index = first; index != end; index++) {
        const unsigned char *request = gyre_bridge_reserved(queue, index - first);
        const uint32_t length = gyre_length_of(request, (size_t)each, true);
        const uint64_t position = head + (index - first) * each;
        if (length <= GYRE_SLOT_SMALL_PAYLOAD)
            memcpy(slot_of(queue, index) + 1, request, length);
        describe(queue, index, length, position);
        next = position + gyre_bridge_need(length);
    }
    __atomic_store_n(&bridge->producer.head, next, __ATOMIC_RELAXED);
    publish(queue, first, end);
}
