/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what kernels of a part send to other devices (outlets.h). */
#include "core/links/outlets.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/links/link_sizes.h"

/* ---- memory ---- */

/* The place of the outlet's device, which may be a new one. */
static uint32_t find_place(const gyre_pipeline *part, struct gyre_outlets *outlets,
                           const struct gyre_outlet *outlet)
{
    struct gyre_dispatch *device = part->nodes[outlet->node].facts.device;
    uint32_t place = 0;
    while (place < outlets->place_count && outlets->places[place].device != device)
        place++;
    if (place == outlets->place_count)
        outlets->places[outlets->place_count++].device = device;
    return place;
}

/* Gives the outlets of a place their rings, which are neighbours. */
static void number_rings(const gyre_pipeline *part, struct gyre_outlets *outlets, uint32_t number)
{
    struct gyre_outlet_place *place = &outlets->places[number];
    place->first = outlets->ring_count;
    for (uint32_t i = 0; i < outlets->count; i++) {
        struct gyre_outlet *outlet = &outlets->each[i];
        const struct gyre_node_facts *facts = &part->nodes[outlet->node].facts;
        if (outlet->place != number)
            continue;
        outlet->first = outlets->ring_count;
        outlet->count = facts->movers;
        outlet->stride = gyre_link_stride(facts->record->ports[outlet->port].type->size);
        outlets->ring_count += outlet->count;
    }
    place->count = outlets->ring_count - place->first;
}

/* Decides where the slots of a place lie. Returns how many bytes the longest ring has. */
static uint64_t place_slots(struct gyre_outlets *outlets, uint32_t number)
{
    struct gyre_outlet_place *place = &outlets->places[number];
    uint64_t longest = 0;
    place->bytes = place->count * sizeof(gyre_link_ring);
    for (uint32_t i = 0; i < outlets->count; i++) {
        const struct gyre_outlet *outlet = &outlets->each[i];
        const uint64_t size = gyre_link_slots_size(outlet->capacity, outlet->stride);
        if (outlet->place != number)
            continue;
        longest = size > longest ? size : longest;
        for (uint32_t j = outlet->first; j < outlet->first + outlet->count; j++, place->bytes += size)
            outlets->rings[j].slots = place->bytes;
    }
    return longest;
}

/* Decides where everything lies, and makes room for copies of it. EXHAUSTED. */
static gyre_status place_rings(const gyre_pipeline *part, struct gyre_outlets *outlets)
{
    uint64_t longest = 1;
    outlets->places = calloc(outlets->count, sizeof *outlets->places);
    for (uint32_t i = 0; i < outlets->count && outlets->places; i++)
        outlets->each[i].place = find_place(part, outlets, &outlets->each[i]);
    for (uint32_t i = 0; i < outlets->place_count; i++)
        number_rings(part, outlets, i);
    outlets->rings = calloc(outlets->ring_count + 1, sizeof *outlets->rings);
    outlets->seen = calloc(outlets->ring_count + 1, sizeof *outlets->seen);
    for (uint32_t i = 0; i < outlets->place_count && outlets->rings; i++) {
        const uint64_t bytes = place_slots(outlets, i);
        longest = bytes > longest ? bytes : longest;
    }
    outlets->bytes = malloc(longest);
    if (outlets->places && outlets->rings && outlets->seen && outlets->bytes)
        return GYRE_OK;
    return gyre_error_set(GYRE_EXHAUSTED, "no memory for links to other devices");
}

static gyre_status write_rings(struct gyre_outlets *outlets, const struct gyre_outlet_place *place)
{
    for (uint32_t i = 0; i < outlets->count; i++) {
        const struct gyre_outlet *outlet = &outlets->each[i];
        for (uint32_t j = outlet->first; j < outlet->first + outlet->count; j++)
            outlets->seen[j] = (gyre_link_ring){.slots = outlets->places[outlet->place].store.address +
                                                         outlets->rings[j].slots,
                                                .capacity = (uint32_t)outlet->capacity,
                                                .stride = outlet->stride};
    }
    return gyre_link_store_write(&place->store, 0, outlets->seen + place->first,
                                 place->count * sizeof *outlets->seen);
}

gyre_status gyre_outlets_make(const gyre_pipeline *part, struct gyre_outlet *each, uint32_t count,
                              struct gyre_outlets **out)
{
    struct gyre_outlets *outlets = calloc(1, sizeof *outlets);
    *out = outlets;
    if (!outlets) {
        free(each);
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for links to other devices");
    }
    outlets->each = each;
    outlets->count = count;
    gyre_status status = count ? place_rings(part, outlets) : GYRE_OK;
    for (uint32_t i = 0; i < outlets->place_count && status == GYRE_OK; i++) {
        struct gyre_outlet_place *place = &outlets->places[i];
        status = part->nodes[0].facts.in_worker
                     ? gyre_link_store_make_shown(place->device, place->bytes, &place->store)
                     : gyre_link_store_make(place->device, part->nodes[0].facts.in_host, place->bytes,
                                            &place->store);
        if (status == GYRE_OK)
            status = write_rings(outlets, place);
    }
    return status;
}

gyre_status gyre_outlets_renew(struct gyre_outlets *outlets)
{
    gyre_status status = GYRE_OK;
    outlets->missed_then = outlets->missed;
    for (uint32_t i = 0; i < outlets->ring_count; i++)
        outlets->rings[i] = (struct gyre_outlet_ring){.slots = outlets->rings[i].slots};
    for (uint32_t i = 0; i < outlets->place_count && status == GYRE_OK; i++) {
        gyre_link_store_renew(&outlets->places[i].store);
        status = write_rings(outlets, &outlets->places[i]);
    }
    return status;
}

void gyre_outlets_free(struct gyre_outlets *outlets)
{
    if (!outlets)
        return;
    for (uint32_t i = 0; i < outlets->place_count; i++)
        gyre_link_store_release(&outlets->places[i].store);
    free(outlets->places);
    free(outlets->each);
    free(outlets->rings);
    free(outlets->seen);
    free(outlets->bytes);
    free(outlets);
}

/* ---- reading ---- */

/* Copies the slots of the messages from `first` to `end`, which may lie at the end and the begin of the ring. */
static gyre_status copy_slots(const struct gyre_outlets *outlets, const struct gyre_outlet *outlet,
                              const struct gyre_outlet_ring *ring, uint64_t end)
{
    gyre_status status = GYRE_OK;
    for (uint64_t at = ring->next; at != end && status == GYRE_OK;) {
        const uint64_t place = at & (outlet->capacity - 1), left = outlet->capacity - place;
        const uint64_t count = end - at < left ? end - at : left, offset = place * outlet->stride;
        status = gyre_link_store_read(&outlets->places[outlet->place].store, ring->slots + offset,
                                      (uint64_t *)(void *)(outlets->bytes + offset), count * outlet->stride);
        at += count;
    }
    return status;
}

/*
 * The end of the messages that are there, of those up to `head`, which a worker process may have written anything as. In memory of this
 * process a message is read behind its sequence; pairs with the sender's release. Of other memory there is a copy.
 */
static uint64_t end_of(struct gyre_outlets *outlets, const struct gyre_outlet *outlet,
                       const struct gyre_outlet_ring *ring, uint64_t head)
{
    const unsigned char *host = (const unsigned char *)outlets->places[outlet->place].store.host;
    if (head - ring->next > outlet->capacity) {
        outlets->lost++;
        return ring->next;
    }
    if (!host)
        return head;
    for (uint64_t at = ring->next; at != head; at++) {
        const gyre_link_slot *slot =
            (const gyre_link_slot *)(const void *)(host + ring->slots +
                                                   (at & (outlet->capacity - 1)) * outlet->stride);
        if (__atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE) != (gyre_u32)(at + 1))
            return at;
    }
    return head;
}

/* Takes the messages of a ring that are there. */
static gyre_status take_ring(struct gyre_outlets *outlets, const struct gyre_outlet *outlet, uint32_t number,
                             gyre_outlet_take *take, void *context)
{
    struct gyre_outlet_ring *ring = &outlets->rings[number];
    const uint64_t head = end_of(outlets, outlet, ring, outlets->seen[number].head),
                   section = outlet->capacity / GYRE_LINK_SECTIONS;
    if (head == ring->next)
        return GYRE_OK;
    gyre_status status = copy_slots(outlets, outlet, ring, head);
    while (status == GYRE_OK && ring->next != head) {
        const uint64_t place = ring->next & (outlet->capacity - 1);
        const gyre_link_slot *slot =
            (const gyre_link_slot *)(const void *)(outlets->bytes + place * outlet->stride);
        if (slot->sequence != (gyre_u32)(ring->next + 1))
            break; /* of a request that is not completed yet */
        take(context, outlet, slot);
        ring->fetched[place / section]++;
        ring->next++;
    }
    if (status != GYRE_OK)
        return status;
    const struct gyre_outlet_place *place = &outlets->places[outlet->place];
    return gyre_link_store_write(
        &place->store, (number - place->first) * sizeof(gyre_link_ring) + offsetof(gyre_link_ring, fetched),
        ring->fetched, sizeof ring->fetched);
}

gyre_status gyre_outlets_read(struct gyre_outlets *outlets, gyre_outlet_take *take, void *context)
{
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; i < outlets->place_count && status == GYRE_OK; i++) {
        const struct gyre_outlet_place *place = &outlets->places[i];
        status = gyre_link_store_read(&place->store, 0, (uint64_t *)(void *)(outlets->seen + place->first),
                                      place->count * sizeof *outlets->seen);
    }
    uint64_t missed = 0;
    for (uint32_t i = 0; i < outlets->count && status == GYRE_OK; i++) {
        const struct gyre_outlet *outlet = &outlets->each[i];
        for (uint32_t j = outlet->first; j < outlet->first + outlet->count && status == GYRE_OK; j++) {
            missed += outlets->seen[j].missed;
            status = take_ring(outlets, outlet, j, take, context);
        }
    }
    if (status == GYRE_OK)
        outlets->missed = outlets->missed_then + missed;
    return status;
}

/* ---- what senders are told ---- */

static const struct gyre_outlet *outlet_of(const gyre_pipeline *part, int node, uint32_t port)
{
    for (uint32_t i = 0; part->outlets && i < part->outlets->count; i++)
        if (part->outlets->each[i].node == node && part->outlets->each[i].port == port)
            return &part->outlets->each[i];
    return NULL;
}

uint32_t gyre_outlets_count(const gyre_pipeline *part, int node, uint32_t port)
{
    return outlet_of(part, node, port) != NULL;
}

uint32_t gyre_outlets_write(const gyre_pipeline *part, int node, uint32_t port, gyre_link_branch *branches)
{
    const struct gyre_outlet *outlet = outlet_of(part, node, port);
    if (!outlet)
        return 0;
    const struct gyre_outlet_place *place = &part->outlets->places[outlet->place];
    *branches = (gyre_link_branch){.rings = place->store.address +
                                            (outlet->first - place->first) * sizeof(gyre_link_ring),
                                   .control = part->nodes[node].facts.control,
                                   .slow = GYRE_BRANCH_TAP};
    return 1;
}
