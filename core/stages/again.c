/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that are handled again by another queue (again.h). */
#include "core/stages/again.h"

#include <limits.h>
#include <string.h>

#include "core/base/error.h"
#include "core/queue/end.h"
#include "core/queue/progress.h"
#include "core/queue/resume.h"
#include "core/ring/ring_message.h"
#include "core/stages/seals.h"
#include "gyre/waiting.h"

void gyre_again_empty(gyre_queue *queue)
{
    gyre_view view;
    size_t found = 0;
    gyre_error_hold();
    gyre_queue_complete_unhandled(queue);
    while (gyre_peek(queue, &view, 1, &found, GYRE_NO_WAIT) == GYRE_OK && found)
        gyre_release_views(queue, 1);
    gyre_error_let_go();
    gyre_queue_set_claim(queue, gyre_queue_next_index(queue));
}

bool gyre_again_read(gyre_queue *queue, uint64_t index, struct gyre_logged_request *request)
{
    const struct gyre_ring *ring = gyre_ring_of(queue);
    const gyre_slot *slot = gyre_request_slot(ring, index);
    request->query = false;
    request->length = __atomic_load_n(&slot->length, __ATOMIC_RELAXED); /* once: a worker may write there */
    if (request->length > ring->request_size) {
        gyre_queue_fail(queue, index, GYRE_FAILURE_LENGTH, "the length of the request is wrong");
        return false;
    }
    if (ring->slots.header_size)
        memcpy(&request->header, gyre_header_at(ring, index), ring->slots.header_size);
    memcpy(request->payload, slot + 1, request->length);
    if (ring->slots.sealed &&
        !gyre_seals_hold(queue, index, &request->header, request->payload, request->length)) {
        gyre_queue_fail(queue, index, GYRE_FAILURE_SEAL, "the CRC-32C of the request is wrong");
        return false;
    }
    request->header.deadline_ns = 0;
    return true;
}

void gyre_again_hand_over(const gyre_queue *from, uint64_t again, gyre_queue *to, uint64_t index)
{
    const struct gyre_ring *source = gyre_ring_of(from), *target = gyre_ring_of(to);
    const gyre_slot *reply = gyre_reply_slot(source, again);
    gyre_slot *out = gyre_reply_slot(target, index);
    const uint32_t most =
        source->reply_size > sizeof(gyre_failure) ? source->reply_size : (uint32_t)sizeof(gyre_failure);
    const uint32_t told = __atomic_load_n(&reply->length, __ATOMIC_RELAXED); /* a worker may write there */
    const uint32_t length = told < most ? told : most;
    memcpy(out + 1, reply + 1, length);
    out->length = length;
    out->info = reply->info;
    if (target->slots.sealed)
        gyre_seals_reply(to, index);
    __atomic_store_n(&out->sequence, index + 1, __ATOMIC_RELEASE); /* pairs with gyre_reply_ready */
    gyre_bell_ring(&target->shared->device.bell, INT_MAX);
}
