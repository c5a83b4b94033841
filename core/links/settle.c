/* SPDX-License-Identifier: Apache-2.0 */
/* Settles messages of flows (settle.h). */
#include "core/links/settle.h"

#include <limits.h>
#include <string.h>

#include "core/queue/queue.h"
#include "gyre/checksum.h"
#include "gyre/waiting.h"

/* ---- where a completion goes ---- */

/* The flow of a message. Its entry is not freed while the flow is under way. */
struct settling {
    gyre_queue_region *region;
    const gyre_queue_slots *slots;
    gyre_flow *flow;
    uint64_t place;
};

static struct settling settling_of(const gyre_pipeline *pipeline, uint64_t origin)
{
    const struct gyre_pipeline_entry *entry = &pipeline->entries[GYRE_ORIGIN_TABLE(origin)];
    const struct gyre_ring *ring = gyre_ring_of(entry->queue);
    gyre_flow *flows = (gyre_flow *)(uintptr_t)(entry->flows.address + sizeof(gyre_flow_head));
    const uint64_t place = GYRE_ORIGIN_PLACE(origin);
    return (struct settling){
        .region = ring->shared, .slots = &ring->slots, .flow = flows + place, .place = place};
}

static gyre_slot *reply_slot(const struct settling *settling)
{
    unsigned char *replies = (unsigned char *)settling->region + settling->slots->reply_offset;
    return (gyre_slot *)(void *)(replies + settling->place * settling->slots->reply_stride);
}

/* ---- completing ---- */

/* Stores when the request was taken, and when it is settled, for the client's statistics. */
static void stamp(const struct settling *settling, uint64_t sequence)
{
    gyre_stamp *stamps =
        (gyre_stamp *)(void *)((unsigned char *)settling->region + settling->slots->stamps_offset);
    gyre_stamp *stamp = stamps + settling->place;
    __atomic_store_n(&stamp->started_ns, settling->flow->started_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&stamp->finished_ns, gyre_clock_ns(), __ATOMIC_RELAXED);
    __atomic_store_n(&stamp->sequence_again, sequence, __ATOMIC_RELAXED);
    __atomic_store_n(&stamp->sequence, sequence, __ATOMIC_RELEASE); /* pairs with the client's acquire */
}

/*
 * Publishes the completion, which is in its slot. Pairs with the client's acquire of the sequence. The flow is settled before
 * that: the client may fill the slot of its request again right afterwards.
 */
static void complete(const struct settling *settling, uint32_t outcome, uint32_t length)
{
    const uint64_t sequence = settling->flow->index + 1;
    gyre_slot *out = reply_slot(settling);
    if (settling->slots->stamps_offset)
        stamp(settling, sequence);
    if (settling->slots->foreign)
        __atomic_store_n(&settling->flow->busy, 0, __ATOMIC_RELEASE); /* pairs with who takes the next one */
    out->length = length;
    out->info = outcome;
    __atomic_store_n(&out->sequence, sequence, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* between the completion, and whether its client sleeps */
    if (__atomic_load_n(&settling->region->host.waiting, __ATOMIC_RELAXED))
        gyre_bell_ring(&settling->region->device.bell, INT_MAX);
}

static void complete_failed(const struct settling *settling, const gyre_failure *failure)
{
    memcpy(reply_slot(settling) + 1, failure, sizeof *failure);
    complete(settling, GYRE_OUTCOME_FAILED, sizeof *failure);
}

/* Copies the reply to the slot of the completion. */
static void give_reply(const struct settling *settling, const struct gyre_settled *did)
{
    const gyre_queue_slots *slots = settling->slots;
    memcpy(reply_slot(settling) + 1, did->reply, did->length);
    if (!slots->sealed)
        return;
    gyre_u32 *seals = (gyre_u32 *)(void *)((unsigned char *)settling->region + GYRE_SEALS_OFFSET(slots));
    seals[GYRE_SEALS_ROUND(slots->capacity) + settling->place] =
        gyre_seal_of(NULL, 0, did->reply, did->length);
}

/* Notes the outcome in the flow, unless another message has failed or replied before. */
static void note(const struct settling *settling, const struct gyre_settled *did)
{
    gyre_flow *flow = settling->flow; /* the counter `alive` orders this before the end of the flow */
    if (did->failed && __atomic_fetch_add(&flow->failures, 1, __ATOMIC_RELAXED) == 0)
        flow->failure = did->failure;
    if (did->twice)
        __atomic_fetch_add(&flow->answers, 2, __ATOMIC_RELAXED);
    if (did->failed || !did->replied || __atomic_fetch_add(&flow->answers, 1, __ATOMIC_RELAXED) != 0)
        return;
    give_reply(settling, did);
    flow->length = did->length;
}

static const gyre_failure two = {GYRE_FAILURE_REPLIES, "two handlers replied to one request"};

/* Ends a flow whose messages were counted. */
static void end_flow(const struct settling *settling)
{
    const gyre_flow *flow = settling->flow;
    const uint32_t answers = __atomic_load_n(&flow->answers, __ATOMIC_RELAXED);
    if (__atomic_load_n(&flow->failures, __ATOMIC_RELAXED))
        complete_failed(settling, &flow->failure);
    else if (answers > 1)
        complete_failed(settling, &two);
    else
        complete(settling, answers ? GYRE_OUTCOME_REPLY : GYRE_OUTCOME_NO_REPLY, answers ? flow->length : 0);
}

/* ---- settling ---- */

/* Whether the message is and stays the only one of its flow. */
static bool stays_alone(uint64_t origin, const struct gyre_settled *did)
{
    return origin & GYRE_ORIGIN_SOLE && did->sent == 1 && !did->replied && !did->twice && !did->failed;
}

uint64_t gyre_settle_begin(const gyre_pipeline *pipeline, uint64_t origin, const struct gyre_settled *did)
{
    const uint64_t next = GYRE_ORIGIN_NEXT(origin);
    if (origin & GYRE_ORIGIN_TAP)
        return next;
    if (stays_alone(origin, did))
        return next | GYRE_ORIGIN_SOLE;
    const struct settling settling = settling_of(pipeline, origin);
    gyre_flow *flow = settling.flow;
    if (!(origin & GYRE_ORIGIN_SOLE)) {
        note(&settling, did);
        if (did->sent > 1)
            __atomic_fetch_add(&flow->alive, did->sent - 1, __ATOMIC_RELAXED);
    } else if (did->sent) {
        flow->answers = flow->failures = flow->over = 0;
        __atomic_store_n(&flow->alive, did->sent, __ATOMIC_RELAXED);
        note(&settling, did);
    }
    return next;
}

void gyre_settle_end(const gyre_pipeline *pipeline, uint64_t origin, const struct gyre_settled *did)
{
    if (origin & GYRE_ORIGIN_TAP || did->sent)
        return;
    const struct settling settling = settling_of(pipeline, origin);
    if (!(origin & GYRE_ORIGIN_SOLE)) {
        /* release: what was noted; acquire: what others noted */
        if (__atomic_sub_fetch(&settling.flow->alive, 1, __ATOMIC_ACQ_REL) == 0)
            end_flow(&settling);
        return;
    }
    if (did->failed) {
        complete_failed(&settling, &did->failure);
    } else if (did->twice) {
        complete_failed(&settling, &two);
    } else if (did->replied) {
        give_reply(&settling, did);
        complete(&settling, GYRE_OUTCOME_REPLY, did->length);
    } else {
        complete(&settling, GYRE_OUTCOME_NO_REPLY, 0);
    }
}
