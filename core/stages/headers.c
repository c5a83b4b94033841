/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a header beside the slot of each request before the request is published, and reads it when the request's
 * completion is taken. Nothing here runs for a queue whose messages have no headers.
 *
 * Locks: the caller's. Only producers write the header of a request that is not sent yet. No thread writes the header of a
 * sent request until its slot is given back.
 */
#include "core/stages/headers.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "core/queue/bells.h"
#include "core/queue/choice_rules.h"
#include "core/queue/line.h"
#include "core/queue/progress.h"
#include "core/queue/side.h"
#include "core/queue/stage.h"
#include "core/queue/stage_list.h"
#include "core/stages/expiry.h"
#include "core/stages/order.h"
#include "gyre/waiting.h"

static bool needs_clock(const gyre_queue *queue, uint64_t first)
{
    return gyre_ring_of(queue)->slots.header_size > offsetof(gyre_header, sent_ns) ||
           gyre_expiry_looks(queue, first);
}

void gyre_header_complete(const gyre_queue *queue, gyre_header *header, uint64_t index, uint64_t now_ns)
{
    if (header->type == 0)
        header->type = gyre_choices_of(queue)->request_type;
    if (header->id == 0)
        header->id = index + 1;
    if (!gyre_queue_is_sent_again(queue))
        header->sent_ns = now_ns;
    if (header->deadline_ns == 0)
        header->deadline_ns = gyre_expiry_deadline(queue, now_ns);
}

/* Copies a header with moves of constant size, because a call of memcpy for each message costs more than the header itself. */
static void header_store(unsigned char *to, const gyre_header *header, uint32_t size)
{
    switch (size) {
    case 16:
        memcpy(to, header, 16);
        break;
    case 32:
        memcpy(to, header, 32);
        break;
    case 48:
        memcpy(to, header, 48);
        break;
    default:
        memcpy(to, header, 64);
    }
}

/*
 * Fills in the headers of requests whose sender gave none, in a queue whose messages have no deadline. `size` is a constant.
 * Each header is written into its place word by word: the copy of a header that was built elsewhere would wait for the last
 * store into it.
 */
__attribute__((always_inline)) static inline void fill_plain(const gyre_queue *queue, uint64_t first,
                                                             uint64_t end, uint32_t size, uint64_t now_ns)
{
    unsigned char *const headers = gyre_ring_of(queue)->headers;
    const uint64_t mask = gyre_ring_of(queue)->mask;
    const gyre_header header = {.type = gyre_choices_of(queue)->request_type, .sent_ns = now_ns};
    for (uint64_t index = first; index != end; index++) {
        unsigned char *place = headers + (index & mask) * size;
        const uint64_t id = index + 1;
        memcpy(place, &header, offsetof(gyre_header, id));
        memcpy(place + offsetof(gyre_header, id), &id, sizeof id);
        memcpy(place + 16, (const unsigned char *)&header + 16, size - 16);
    }
}

static void fill_all_plain(const gyre_queue *queue, uint64_t first, uint64_t end, uint64_t now_ns)
{
    switch (gyre_ring_of(queue)->slots.header_size) {
    case 16:
        fill_plain(queue, first, end, 16, 0);
        break;
    case 32:
        fill_plain(queue, first, end, 32, 0);
        break;
    case 48:
        fill_plain(queue, first, end, 48, now_ns);
        break;
    default:
        fill_plain(queue, first, end, 64, now_ns);
    }
}

/* Writes the type of each request of a protocol, which the request's number tells, unless the sender named a type itself. */
static void name_types(const gyre_queue *queue, const struct gyre_sending *sending)
{
    const struct gyre_queue_choices *choices = gyre_choices_of(queue);
    const unsigned char *request = sending->requests;
    for (uint64_t index = sending->first; index != sending->end; index++, request += sending->stride) {
        unsigned char *place = gyre_header_at(gyre_ring_of(queue), index) + offsetof(gyre_header, type);
        uint32_t type, number;
        memcpy(&type, place, sizeof type);
        memcpy(&number, request + GYRE_CHOICE_FRONT - sizeof number, sizeof number);
        if (type == choices->request_type && number != 0 && number <= choices->count)
            memcpy(place, &choices->types[number - 1], sizeof type);
    }
}

/* Writes the headers of requests as their senders gave them, with missing fields filled in. gyre_reserve_header has put the
 * header of a reserved request into its place already. A message that waited in front of the ring (levels.c) has had a
 * complete header since it was sent. */
static void fill_given(gyre_queue *queue, const struct gyre_sending *sending, uint64_t now_ns)
{
    const struct gyre_ring *ring = gyre_ring_of(queue);
    const uint32_t size = ring->slots.header_size;
    for (uint64_t index = sending->first; index != sending->end; index++) {
        gyre_header header = {0};
        unsigned char *place = gyre_header_at(ring, index);
        if (sending->in_place)
            memcpy(&header, place, size);
        else if (sending->given)
            header = sending->given[index - sending->first];
        if (!gyre_queue_has_line(queue))
            gyre_header_complete(queue, &header, index, now_ns);
        header_store(place, &header, size);
    }
}

static void headers_sent(gyre_queue *queue, const struct gyre_sending *sending)
{
    const uint64_t now_ns = needs_clock(queue, sending->first) ? gyre_clock_ns() : 0;
    if (sending->given || sending->in_place || gyre_expiry_looks(queue, sending->first))
        fill_given(queue, sending, now_ns);
    else
        fill_all_plain(queue, sending->first, sending->end, now_ns);
    if (gyre_choices_of(queue)->types)
        name_types(queue, sending);
}

void gyre_headers_tick(gyre_queue *queue)
{
    gyre_queue_host *host = &gyre_ring_of(queue)->shared->host;
    gyre_producer_take(queue);
    __atomic_store_n(&host->tick_index, gyre_queue_next_index(queue), __ATOMIC_RELAXED);
    __atomic_store_n(&host->tick_ns, gyre_clock_ns(), __ATOMIC_RELEASE); /* pairs with the device's acquire */
    gyre_producer_give(queue);
    gyre_queue_ring_doorbell(queue, INT_MAX);
}

static void headers_told(const gyre_queue *queue, uint64_t index, gyre_message_info *info)
{
    info->header_size = gyre_ring_of(queue)->slots.header_size;
    memcpy(&info->header, gyre_header_at(gyre_ring_of(queue), index), info->header_size);
}

void gyre_headers_create(gyre_queue *queue)
{
    static const struct gyre_queue_stage stage = {
        .number = GYRE_STAGE_HEADERS, .sent = headers_sent, .told = headers_told};
    gyre_stage_add(queue, &stage, queue);
}
