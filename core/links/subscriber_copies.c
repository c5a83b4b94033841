/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings of a subscriber that lie in memory of the senders' device (subscriber_copies.h): messages are copied into rings of this process,
 * and places are given back by copies. Under subscriber->lock, except where the subscriber is made.
 */
#include "core/links/subscriber_copies.h"

#include <stddef.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/links/link_sizes.h"
#include "core/links/subscriber.h"

struct gyre_subscriber_copies {
    struct gyre_link_store store; /* the gate, the rings, their slots */
    uint64_t *copied;             /* of each ring: the first message that was not copied */
    struct {
        gyre_link_gate gate;
        gyre_link_ring rings[];
    } * seen; /* room for a copy of the gate and the rings */
};

/* ---- where things lie in the device's memory ---- */

static uint64_t ring_at(uint32_t number)
{
    return sizeof(gyre_link_gate) + number * sizeof(gyre_link_ring);
}

static uint64_t slots_at(const struct gyre_subscriber *subscriber, uint32_t number)
{
    return ring_at(subscriber->ring_count) +
           number * gyre_link_slots_size(subscriber->capacity, subscriber->stride);
}

uint64_t gyre_subscriber_copies_ring(const struct gyre_subscriber *subscriber, uint32_t number)
{
    return subscriber->copies->store.address + ring_at(number);
}

uint64_t gyre_subscriber_copies_gate(const struct gyre_subscriber *subscriber)
{
    return subscriber->copies->store.address;
}

/* ---- memory ---- */

static gyre_status write_rings(const struct gyre_subscriber *subscriber)
{
    struct gyre_subscriber_copies *copies = subscriber->copies;
    for (uint32_t i = 0; i < subscriber->ring_count; i++)
        copies->seen->rings[i] = (gyre_link_ring){.slots = copies->store.address + slots_at(subscriber, i),
                                                  .capacity = (uint32_t)subscriber->capacity,
                                                  .stride = subscriber->stride};
    return gyre_link_store_write(&copies->store, 0, copies->seen, ring_at(subscriber->ring_count));
}

gyre_status gyre_subscriber_copies_make(struct gyre_subscriber *subscriber, struct gyre_dispatch *device)
{
    struct gyre_subscriber_copies *copies = calloc(1, sizeof *copies);
    subscriber->copies = copies;
    if (copies) {
        copies->copied = calloc(subscriber->ring_count, sizeof *copies->copied);
        copies->seen = calloc(1, ring_at(subscriber->ring_count));
    }
    if (!copies || !copies->copied || !copies->seen)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a subscription");
    const gyre_status status =
        gyre_link_store_make(device, false, slots_at(subscriber, subscriber->ring_count), &copies->store);
    return status == GYRE_OK ? write_rings(subscriber) : status;
}

void gyre_subscriber_copies_part(struct gyre_subscriber *subscriber)
{
    if (subscriber->copies)
        gyre_link_store_release(&subscriber->copies->store);
}

void gyre_subscriber_copies_free(struct gyre_subscriber *subscriber)
{
    struct gyre_subscriber_copies *copies = subscriber->copies;
    if (!copies)
        return;
    gyre_subscriber_copies_part(subscriber);
    free(copies->copied);
    free(copies->seen);
    free(copies);
    subscriber->copies = NULL;
}

/* ---- copying ---- */

/* Copies the slots of the messages from `first` to `end`, which may lie at the end and the begin of the ring. */
static gyre_status copy_slots(const struct gyre_subscriber *subscriber, uint32_t number, uint64_t first,
                              uint64_t end)
{
    const struct gyre_subscriber_copies *copies = subscriber->copies;
    unsigned char *slots = (unsigned char *)(uintptr_t)subscriber->rings[number].ring->slots;
    gyre_status status = GYRE_OK;
    while (first != end && status == GYRE_OK) {
        const uint64_t place = first & (subscriber->capacity - 1), left = subscriber->capacity - place;
        const uint64_t count = end - first < left ? end - first : left, offset = place * subscriber->stride;
        status = gyre_link_store_read(&copies->store, slots_at(subscriber, number) + offset,
                                      (uint64_t *)(void *)(slots + offset), count * subscriber->stride);
        first += count;
    }
    return status;
}

/*
 * Copies what came into a ring. The sender stores where it writes next behind the messages, yet without a fence: a message that is not
 * there with its sequence is copied again by the next look.
 */
static gyre_status copy_ring(struct gyre_subscriber *subscriber, uint32_t number)
{
    struct gyre_subscriber_copies *copies = subscriber->copies;
    const gyre_link_ring *seen = &copies->seen->rings[number];
    gyre_link_ring *ring = subscriber->rings[number].ring;
    const uint64_t given = __atomic_load_n(&subscriber->rings[number].next, __ATOMIC_RELAXED);
    uint64_t *copied = &copies->copied[number];
    if (seen->head - given > subscriber->capacity)
        return gyre_error_set(GYRE_INTERNAL,
                              "a ring of subscription '%s' of %llu messages has messages %llu to %llu",
                              subscriber->face.name, (unsigned long long)subscriber->capacity,
                              (unsigned long long)given, (unsigned long long)seen->head);
    __atomic_store_n(&ring->missed, seen->missed, __ATOMIC_RELAXED);
    const gyre_status status = copy_slots(subscriber, number, *copied, seen->head);
    while (status == GYRE_OK && *copied != seen->head) {
        const unsigned char *slots = (const unsigned char *)(uintptr_t)ring->slots;
        const gyre_link_slot *slot =
            (const gyre_link_slot *)(const void *)(slots + (*copied & (subscriber->capacity - 1)) *
                                                               subscriber->stride);
        if (slot->sequence != (gyre_u32)(*copied + 1))
            break;
        ++*copied;
    }
    return status;
}

gyre_status gyre_subscriber_copies_look(struct gyre_subscriber *subscriber)
{
    struct gyre_subscriber_copies *copies = subscriber->copies;
    if (!copies || !copies->store.address)
        return GYRE_OK;
    gyre_status status = gyre_link_store_read(&copies->store, 0, (uint64_t *)(void *)copies->seen,
                                              ring_at(subscriber->ring_count));
    for (uint32_t i = 0; i < subscriber->ring_count && status == GYRE_OK; i++)
        status = copy_ring(subscriber, i);
    if (status == GYRE_OK) /* behind the messages that came before it */
        __atomic_store_n(&subscriber->gate->cut, copies->seen->gate.cut, __ATOMIC_RELAXED);
    return status;
}

gyre_status gyre_subscriber_copies_give_back(const struct gyre_subscriber *subscriber, uint32_t number)
{
    const struct gyre_subscriber_copies *copies = subscriber->copies;
    const gyre_link_ring *ring = subscriber->rings[number].ring;
    if (!copies->store.address)
        return GYRE_OK;
    return gyre_link_store_write(&copies->store, ring_at(number) + offsetof(gyre_link_ring, fetched),
                                 ring->fetched, sizeof ring->fetched);
}
