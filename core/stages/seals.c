/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seals messages with a CRC-32C. The seal of a request covers the request and its header; the device checks it before it
 * calls the handler. The device seals each reply, and this file checks that seal before a client sees the reply.
 *
 * Locks: the caller's. A seal is written before the sequence that publishes its message.
 */
#include "core/stages/seals.h"

#include "core/queue/stage.h"
#include "core/queue/stage_list.h"
#include "core/ring/outcome.h"
#include "core/ring/publish.h"
#include "core/ring/ring_message.h"
#include "core/stages/order.h"
#include "gyre/checksum.h"

static const unsigned char *header_of(const gyre_queue *queue, uint64_t index)
{
    const struct gyre_ring *ring = gyre_ring_of(queue);
    return ring->headers ? gyre_header_at(ring, index) : NULL;
}

static gyre_u32 *request_seal(const gyre_queue *queue, uint64_t index)
{
    return gyre_ring_of(queue)->seals + (index & gyre_ring_of(queue)->mask);
}

/* The place of a reply's seal. The device writes these seals, so they lie in cache lines of their own. */
static gyre_u32 *reply_seal(const gyre_queue *queue, uint64_t index)
{
    return gyre_ring_of(queue)->seals + GYRE_SEALS_ROUND(gyre_ring_of(queue)->capacity) +
           (index & gyre_ring_of(queue)->mask);
}

void gyre_seals_write(const gyre_queue *queue, uint64_t first, uint64_t end, const void *requests,
                      size_t stride)
{
    const unsigned char *request = requests;
    for (uint64_t index = first; index != end; index++, request += stride)
        *request_seal(queue, index) =
            gyre_seal_of(header_of(queue, index), gyre_ring_of(queue)->slots.header_size, request,
                         gyre_length_of(request, gyre_ring_of(queue)->request_size,
                                        gyre_ring_of(queue)->request_least != 0));
}

bool gyre_seals_hold(const gyre_queue *queue, uint64_t index, const void *header, const void *request,
                     uint32_t length)
{
    return gyre_seal_of(header, gyre_ring_of(queue)->slots.header_size, request, length) ==
           *request_seal(queue, index);
}

static gyre_u32 seal_of_reply(const gyre_queue *queue, const gyre_slot *slot)
{
    const uint32_t length = gyre_slot_length(slot);
    return gyre_seal_of(NULL, 0, slot + 1,
                        length < gyre_ring_of(queue)->reply_size ? length : gyre_ring_of(queue)->reply_size);
}

void gyre_seals_reply(const gyre_queue *queue, uint64_t index)
{
    *reply_seal(queue, index) = seal_of_reply(queue, gyre_reply_slot(gyre_ring_of(queue), index));
}

static void seals_seen(const gyre_queue *queue, uint64_t first, uint64_t end)
{
    for (uint64_t index = first; index != end && gyre_reply_ready(gyre_ring_of(queue), index); index++) {
        gyre_slot *slot = gyre_reply_slot(gyre_ring_of(queue), index); /* the device is done with it */
        if (slot->info == GYRE_OUTCOME_REPLY && seal_of_reply(queue, slot) != *reply_seal(queue, index))
            gyre_slot_fail(slot, GYRE_FAILURE_SEAL, "the CRC-32C of the reply is wrong");
    }
}

static void seals_sent(gyre_queue *queue, const struct gyre_sending *sending)
{
    gyre_seals_write(queue, sending->first, sending->end, sending->requests, sending->stride);
}

void gyre_seals_create(gyre_queue *queue)
{
    static const struct gyre_queue_stage stage = {
        .number = GYRE_STAGE_SEALS, .sent = seals_sent, .seen = seals_seen};
    gyre_stage_add(queue, &stage, queue);
}
