/* SPDX-License-Identifier: Apache-2.0 */
/* Copies messages of links and queues into the cells of an epoch (opencl_fetch.h). Takes no lock. */
#include "backends/device/device_admission.h"
#include "backends/device/device_jobs.h"
#include "backends/device/device_link_times.h"
#include "backends/opencl/epochs/opencl_carry.h"
#include "backends/opencl/links/opencl_columns.h"
#include "backends/opencl/links/opencl_fetch.h"
#include "backends/opencl/links/opencl_flow.h"
#include "backends/opencl/links/opencl_link_ring.h"

#include <limits.h>
#include <string.h>

#include "gyre/checksum.h"
#include "gyre/waiting.h"

/* ---- cells ---- */

static gyre_cell_flow *flow_cell(const gyre_resident *resident)
{
    unsigned char *cell = link_request_cell(resident, resident->links->next);
    return (gyre_cell_flow *)(void *)(cell + resident->links->told.flow_offset);
}

/* Fills the next cell. A longer payload than the type has does not fit: its length tells the kernel. */
static void fill_cell(const gyre_resident *resident, const void *payload, gyre_u32 length)
{
    const uint32_t size = (uint32_t)resident->kernel->record.request->size;
    gyre_slot *slot = (gyre_slot *)(void *)link_request_cell(resident, resident->links->next);
    slot->sequence = resident->epochs[0].first + resident->links->next + 1; /* a direct lane waits for it */
    slot->length = length;
    slot->info = 0;
    memcpy(slot + 1, payload, opencl_least(length, size));
}

/* Fills in the flow of the next cell, with its header (NULL: none). */
static void fill_flow(const gyre_resident *resident, gyre_u64 origin, gyre_u64 index, const void *header,
                      uint32_t header_size)
{
    gyre_cell_flow *flow = flow_cell(resident);
    flow->origin = origin;
    flow->id = origin && !(origin & GYRE_ORIGIN_TAP)
                   ? ((gyre_u64)GYRE_ORIGIN_TABLE(origin) + 1) << 56 | (index & OPENCL_FLOW_INDEX)
                   : 0;
    flow->header_size = header ? header_size : 0;
    memset(flow->reserved, 0, sizeof flow->reserved);
    if (header)
        memcpy(flow + 1, header, header_size);
}

/* The next cell is filled. `foreign`: what its message causes goes to another program. */
static void take(gyre_resident *resident, const struct opencl_message *message, bool foreign)
{
    struct opencl_links *links = resident->links;
    links->messages[links->next] = *message;
    links->foreign = links->foreign || foreign;
    opencl_columns_take(resident);
}

/* ---- links ---- */

bool opencl_fetch_has_links(const gyre_resident *resident)
{
    const gyre_link_table *table = resident->links->table;
    for (uint32_t i = 0; table && i < table->inlet_count; i++) {
        const gyre_link_ring *ring = link_at(link_inlets(table)[i].ring);
        if (ring->pool ? device_jobs_waiting(ring, 1) : link_is_filled(ring, ring->claimed))
            return true;
    }
    return false;
}

/* Notes what the message asks or answers, and shows the handler its token. */
static void take_ask(const gyre_resident *resident, const gyre_link_ring *ring, const gyre_link_slot *slot,
                     gyre_link_ask *ask)
{
    if (ring->talk == GYRE_TALK_TELLS)
        return;
    memcpy(ask, slot + 1, sizeof *ask);
    flow_cell(resident)->reserved[GYRE_CELL_TOKEN] = ask->token;
}

/*
 * Copies a message of a link. A message of a tap is of no flow: nothing is looked up by its origin, whose flow may be settled, and
 * its places are cleared.
 */
static void copy_message(gyre_resident *resident, const gyre_link_ring *ring, const gyre_link_slot *slot)
{
    struct opencl_message message = {.in_flow = true, .origin = slot->origin};
    const gyre_link_entry *entry = &resident->links->table->entries[GYRE_ORIGIN_TABLE(message.origin)];
    const bool tapped = (message.origin & GYRE_ORIGIN_TAP) != 0;
    if (tapped)
        fill_flow(resident, message.origin, 0, NULL, 0);
    else
        fill_flow(resident, message.origin, opencl_flow_of(resident->links, message.origin)->index,
                  opencl_flow_header(entry, GYRE_ORIGIN_PLACE(message.origin)), entry->slots.header_size);
    take_ask(resident, ring, slot, &message.ask);
    fill_cell(resident, link_payload(ring, slot), slot->length);
    take(resident, &message, tapped || entry->slots.foreign || resident->links->heard);
}

/* Takes a message of a link, unless its flow exceeded its quota. False when the epoch has no cell for it. */
static bool fetch_message(gyre_resident *resident, const gyre_link_ring *ring, const gyre_link_slot *slot)
{
    const gyre_u64 origin = slot->origin;
    if (!opencl_columns_find(resident, ring, link_payload(ring, slot)))
        return false;
    if (origin & GYRE_ORIGIN_TAP || !opencl_flow_is_over(resident->links, origin)) {
        copy_message(resident, ring, slot);
        return true;
    }
    opencl_flow_pass_over(resident, &(struct opencl_message){.in_flow = true, .origin = origin});
    opencl_count_messages(resident, 1, 0);
    return true;
}

/* Counts messages [first, end) as fetched: their places may be written again. Pairs with the acquire of their sender. */
static void give_back(gyre_link_ring *ring, gyre_u64 first, gyre_u64 end)
{
    const gyre_u64 section = ring->capacity / GYRE_LINK_SECTIONS;
    while (first != end) {
        const gyre_u64 border = (first / section + 1) * section;
        const gyre_u64 stop = border < end ? border : end;
        gyre_u64 *fetched = &ring->fetched[link_section(ring, first)];
        if (ring->pool)
            __atomic_fetch_add(fetched, stop - first, __ATOMIC_RELEASE);
        else
            __atomic_store_n(fetched, *fetched + (stop - first), __ATOMIC_RELEASE);
        first = stop;
    }
}

/* Wakes the sender if it sleeps until there is room. */
static void wake_sender(const gyre_resident *resident, const gyre_link_inlet *inlet)
{
    const gyre_link_ring *ring = link_at(inlet->ring);
    gyre_control_region *sender = link_at(inlet->control);
    gyre_barrier_light(resident->light_barriers && !sender->command.parks);
    if (__atomic_load_n(&ring->starved, __ATOMIC_RELAXED))
        gyre_bell_ring(&sender->doorbell.bell, INT_MAX);
}

static void fetch_inlet(gyre_resident *resident, const gyre_link_inlet *inlet, uint32_t most)
{
    gyre_link_ring *ring = link_at(inlet->ring);
    gyre_link_times *const times = link_at(ring->times);
    const gyre_u64 first = ring->claimed;
    gyre_u64 index = first;
    while (resident->links->taken < most && link_is_filled(ring, index) &&
           fetch_message(resident, ring, link_slot(ring, index)))
        device_link_times_begun(times, index++);
    if (index == first)
        return;
    __atomic_store_n(&ring->claimed, index, __ATOMIC_RELAXED); /* relaxed: this kernel alone claims */
    give_back(ring, first, index);
    wake_sender(resident, inlet);
}

/* ---- pools ---- */

static bool is_own(const struct opencl_links *links, const gyre_link_ring *ring)
{
    for (uint32_t i = 0; i < links->declared; i++)
        if (links->ports[i].ring == ring)
            return true;
    return false;
}

/*
 * How many messages of the ring this kernel takes for an epoch that has room for `room` more. Of a tree one for each block, with all else
 * that the epoch has: whoever takes more at once has more of the tree alive than docs/pipelines.md says. Else a share of what waits, so that
 * other members find some.
 */
static uint32_t jobs_wanted(const gyre_resident *resident, const gyre_link_ring *ring, uint32_t room)
{
    const uint32_t takers = GYRE_POOL_TAKERS(ring->pool), taken = resident->links->taken;
    if (ring->pool & GYRE_POOL_NEWEST)
        return opencl_least(room, taken < resident->blocks ? resident->blocks - taken : 0);
    return opencl_least(room, (device_jobs_waiting(ring, ring->capacity) + takers - 1) / takers);
}

static void count_jobs(const gyre_link_inlet *inlet, uint32_t count, bool stolen)
{
    gyre_link_window *window = link_at(inlet->windows);
    /* relaxed: statistics, written by this pump alone */
    __atomic_store_n(&window->taken, window->taken + count, __ATOMIC_RELAXED);
    if (stolen)
        __atomic_store_n(&window->stolen, window->stolen + count, __ATOMIC_RELAXED);
}

/*
 * Takes messages of a ring of a pool, and gives their places back, unless they are those of the kernel's next messages. They keep their
 * order in the epoch: what the newest of them emit is newer than what the others do.
 */
static void fetch_jobs(gyre_resident *resident, const gyre_link_inlet *inlet, uint32_t most)
{
    gyre_link_ring *ring = link_at(inlet->ring);
    const bool own = is_own(resident->links, ring);
    const uint32_t room = opencl_least(most - resident->links->taken, opencl_columns_left(resident));
    gyre_u64 first = 0;
    const uint32_t count = device_jobs_take(ring, own, jobs_wanted(resident, ring, room), &first);
    if (count == 0)
        return;
    for (uint32_t i = 0; i < count; i++) {
        fetch_message(resident, ring, link_slot(ring, first + i));
        device_link_times_begun(link_at(ring->times), first + i);
    }
    if (!(own && ring->pool & GYRE_POOL_NEWEST))
        give_back(ring, first, first + count);
    count_jobs(inlet, count, !own && ring->pool & GYRE_POOL_OWN);
    wake_sender(resident, inlet);
}

/*
 * Takes messages that the kernel emitted to pools of which it is a member, of those in `levels`. Whether there were some: then it steals
 * none of such a level, or of a lower one.
 */
static bool fetch_own_jobs(gyre_resident *resident, uint32_t most, uint32_t levels)
{
    const struct opencl_links *links = resident->links;
    const uint32_t inlets = links->table ? links->table->inlet_count : 0;
    bool any = false;
    for (uint32_t i = 0; i < inlets; i++) {
        const gyre_link_inlet *inlet = &link_inlets(links->table)[i];
        const gyre_link_ring *ring = link_at(inlet->ring);
        if (!(ring->pool & GYRE_POOL_OWN && levels >> ring->level & 1) || !is_own(links, ring) ||
            !device_jobs_waiting(ring, 1))
            continue;
        any = true;
        if (links->taken < most)
            fetch_jobs(resident, inlet, most);
    }
    return any;
}

static bool has_own_jobs(const gyre_resident *resident)
{
    const struct opencl_links *links = resident->links;
    for (uint32_t i = 0; i < links->declared; i++) {
        const gyre_link_ring *ring = links->ports[i].ring;
        if (ring && ring->pool & GYRE_POOL_OWN && device_jobs_waiting(ring, 1))
            return true;
    }
    return false;
}

/* ---- links and pools ---- */

/* Takes messages of the inlets whose levels are in `levels`, first of that whose turn it is. `own`: it steals none. */
static void fetch_levels(gyre_resident *resident, uint32_t most, uint32_t turn, uint32_t levels, bool own)
{
    const struct opencl_links *links = resident->links;
    const uint32_t inlets = links->table ? links->table->inlet_count : 0;
    for (uint32_t i = 0; i < inlets && links->taken < most; i++) {
        const gyre_link_inlet *inlet = &link_inlets(links->table)[(i + turn) % inlets];
        const gyre_link_ring *ring = link_at(inlet->ring);
        if (!(levels >> ring->level & 1))
            continue;
        if (!ring->pool)
            fetch_inlet(resident, inlet, most);
        else if (!own)
            fetch_jobs(resident, inlet, most);
    }
}

/* Takes messages of the inlet whose turn it is; each other time what the kernel emitted to pools itself, if there is some. */
static void fetch_whatever_level(gyre_resident *resident, uint32_t most, uint32_t turn)
{
    const bool own = has_own_jobs(resident);
    if (own && turn % 2)
        fetch_own_jobs(resident, most, ~0u);
    else
        fetch_levels(resident, most, own ? turn / 2 : turn, ~0u, own);
}

/*
 * An epoch has messages of the highest levels. One of GYRE_LEVEL_TURNS begins at the inlet whose turn it is, whatever its level, with a few: an
 * epoch may have as many as a lower link holds, and those of higher levels would wait for all of them.
 */
void opencl_fetch_links(gyre_resident *resident, uint32_t most)
{
    const struct opencl_links *links = resident->links;
    const uint32_t turn = (uint32_t)links->turns;
    const uint32_t few = links->taken + 1 + most / GYRE_LEVEL_TURNS;
    bool own = false;
    if (!links->levels) {
        own = fetch_own_jobs(resident, most, ~0u);
        fetch_levels(resident, most, turn, ~0u, own);
        return;
    }
    if (turn % GYRE_LEVEL_TURNS == GYRE_LEVEL_TURNS - 1)
        fetch_whatever_level(resident, few < most ? few : most, turn / GYRE_LEVEL_TURNS);
    for (uint32_t level = GYRE_LEVEL_MAX + 1; level > 0; level--) {
        own |= fetch_own_jobs(resident, most, 1u << (level - 1));
        fetch_levels(resident, most, turn, 1u << (level - 1), own);
    }
}

/* ---- queues ---- */

/*
 * Copies the header of a request. An entry of another program has a second copy of it, which the other stages of its flow
 * see. Returns where this program alone can write it; NULL: there is none.
 */
static const unsigned char *fetch_header(const struct opencl_queue *queue, gyre_u32 place)
{
    const gyre_queue_slots *slots = &queue->slots;
    const unsigned char *header = (const unsigned char *)queue->memory->region + slots->headers_offset +
                                  (gyre_u64)place * slots->header_size;
    if (!slots->headers_offset)
        return NULL;
    if (!queue->entry || !(slots->foreign & GYRE_FOREIGN_RING))
        return header;
    unsigned char *copy = opencl_flow_header(queue->entry, place);
    memcpy(copy, header, slots->header_size);
    return copy;
}

/* Whether the request in the next cell has its sender's checksum. */
static bool seal_holds(const gyre_resident *resident, const struct opencl_queue *queue, gyre_u32 place)
{
    const gyre_slot *slot =
        (const gyre_slot *)(const void *)link_request_cell(resident, resident->links->next);
    const gyre_cell_flow *flow = flow_cell(resident);
    const gyre_u32 *seals = (const gyre_u32 *)(const void *)((const unsigned char *)queue->memory->region +
                                                             GYRE_SEALS_OFFSET(&queue->slots));
    if (!queue->slots.sealed || slot->length > resident->kernel->record.request->size)
        return true;
    return gyre_seal_of(flow + 1, flow->header_size, slot + 1, slot->length) == seals[place];
}

/* Whether no sender wants the request's reply any more. */
static bool is_dropped(const struct opencl_queue *queue, gyre_u64 index)
{
    return index < __atomic_load_n(&queue->memory->region->host.drop_before, __ATOMIC_RELAXED);
}

static void drop(gyre_resident *resident, struct opencl_queue *queue, gyre_u64 index)
{
    opencl_flow_drop(resident,
                     &(struct opencl_message){.queue = queue, .serial = queue->serial, .index = index});
    opencl_count_messages(resident, 1, 0);
}

/* Takes a request that was admitted, unless its place is busy or its checksum is wrong. */
static void fetch_request(gyre_resident *resident, struct opencl_queue *queue, gyre_u64 index)
{
    const struct opencl_links *links = resident->links;
    const gyre_u32 place = (gyre_u32)(index & (queue->slots.capacity - 1));
    struct opencl_message message = {.queue = queue, .serial = queue->serial, .index = index};
    if (queue->entry) {
        const gyre_u32 table = (gyre_u32)(queue->entry - links->table->entries);
        message.in_flow = true;
        message.origin = GYRE_ORIGIN_SOLE | GYRE_ORIGIN_OF(table, place);
        if (!opencl_flow_begin(links, queue->entry, index)) {
            device_admission_give(queue->entry);
            return;
        }
    }
    fill_cell(resident, opencl_request_slot(queue, index) + 1, opencl_request_length(queue, index));
    fill_flow(resident, message.origin, index, fetch_header(queue, place), queue->slots.header_size);
    if (seal_holds(resident, queue, place)) {
        take(resident, &message, queue->slots.foreign || links->heard);
        return;
    }
    opencl_flow_refuse(resident, &message, GYRE_FAILURE_SEAL, "the CRC-32C of the request is wrong");
    opencl_count_messages(resident, 1, 1);
}

/*
 * Completes a request that a worker answered which has died since: its reply is in its slot, which lacks at most the
 * sequence.
 */
static void pass_over(const struct opencl_queue *queue, gyre_u64 index)
{
    __atomic_store_n(&opencl_reply_slot(queue, index)->sequence, index + 1, __ATOMIC_RELEASE);
}

/* Takes or completes the next request. False when it has to wait for a cell, or for the end of another flow. */
static bool fetch_next(gyre_resident *resident, struct opencl_queue *queue)
{
    const gyre_u64 index = queue->next;
    if (opencl_is_answered(queue, index))
        pass_over(queue, index);
    else if (is_dropped(queue, index))
        drop(resident, queue, index);
    else if (!opencl_columns_find(resident, NULL, NULL) ||
             (queue->entry && !device_admission_take(queue->entry)))
        return false; /* device_admission_give wakes it */
    else
        fetch_request(resident, queue, index);
    queue->next++;
    return true;
}

static void fetch_queue(gyre_resident *resident, struct opencl_queue *queue, uint32_t most)
{
    uint32_t looks = most; /* so that a stream of requests that no handler sees does not hold the pump up */
    while (looks && resident->links->taken < most && opencl_request_ready(queue, queue->next) &&
           fetch_next(resident, queue))
        looks--;
}

void opencl_fetch_queues(gyre_resident *resident, uint32_t room, uint32_t most)
{
    const uint32_t count = resident->queue_count;
    const uint32_t first = resident->turn++;
    for (uint32_t i = 0; i < count && resident->links->taken < most; i++) {
        struct opencl_queue *queue = &resident->queues[(first + i) % count];
        if (queue->memory)
            fetch_queue(resident, queue, queue->entry ? room : most);
    }
}

bool opencl_fetch_has_requests(const gyre_resident *resident, bool room)
{
    for (uint32_t i = 0; i < resident->queue_count; i++) {
        const struct opencl_queue *queue = &resident->queues[i];
        if (queue->memory && (!queue->entry || (room && device_admission_is_open(queue->entry))) &&
            opencl_request_ready(queue, queue->next))
            return true;
    }
    return false;
}
