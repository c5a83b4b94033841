/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seals: a CRC-32C of each request with its header, which the device looks at before it calls the handler,
 * and one of each reply, which is looked at here before anybody sees the reply.
 *
 * Locks: the caller's; a seal is written before the sequence that publishes what it is of.
 */
#include "core/stages/behaviours.h"
#include "core/queue/publish.h"
#include "gyre/checksum.h"

static gyre_u32 *request_seal(const gyre_queue *queue, uint64_t index)
{
    return queue->seals + (index & queue->mask);
}

/* Those of replies are the device's, in lines of their own. */
static gyre_u32 *reply_seal(const gyre_queue *queue, uint64_t index)
{
    return queue->seals + GYRE_SEALS_ROUND(queue->capacity) + (index & queue->mask);
}

void gyre_queue_seals_sent(gyre_queue *queue, uint64_t first, uint64_t end, const void *requests,
                           size_t stride)
{
    const unsigned char *request = requests;
    for (uint64_t index = first; index != end; index++, request += stride)
        *request_seal(queue, index) =
            gyre_seal_of(queue->headers + (index & queue->mask) * queue->header_size, queue->header_size,
                         request, gyre_length_of(request, queue->request_size, queue->request_least != 0));
}

static gyre_u32 seal_of_reply(const gyre_queue *queue, const gyre_slot *slot)
{
    const uint32_t length = gyre_slot_length(slot);
    return gyre_seal_of(NULL, 0, slot + 1, length < queue->reply_size ? length : queue->reply_size);
}

void gyre_queue_seal_reply(gyre_queue *queue, uint64_t index)
{
    *reply_seal(queue, index) = seal_of_reply(queue, gyre_reply_slot(queue, index));
}

void gyre_queue_seals_look(const gyre_queue *queue, uint64_t first, uint64_t end)
{
    for (uint64_t index = first; index != end && gyre_reply_ready(queue, index); index++) {
        gyre_slot *slot = gyre_reply_slot(queue, index); /* the device is done with it */
        if (slot->info == GYRE_OUTCOME_REPLY && seal_of_reply(queue, slot) != *reply_seal(queue, index))
            gyre_slot_fail(slot, GYRE_FAILURE_SEAL, "the CRC-32C of the reply is wrong");
    }
}
