/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is noted of messages besides the messages: their times, headers, and what became of failed ones. One
 * look (queue->annotated) keeps times and headers away from queues that have neither. Locks: the caller's.
 */
#include <stdio.h>
#include <string.h>

#include "core/stages/behaviours.h"

void gyre_queue_note_sent(gyre_queue *queue, uint64_t first, uint64_t end)
{
    if (queue->timing)
        gyre_queue_timing_sent(queue, first, end);
    if (queue->headers)
        gyre_queue_headers_sent(queue, first, end);
}

void gyre_queue_note_taken(gyre_queue *queue, uint64_t first, uint64_t end)
{
    gyre_replies_done(queue, first, end);
    if (queue->timing)
        gyre_queue_timing_received(queue, first, end);
    if (queue->consumer.wanted && first != end) {
        gyre_queue_info(queue, first, queue->consumer.wanted);
        queue->consumer.wanted = NULL;
    }
}

void gyre_slot_fail(gyre_slot *slot, int32_t code, const char *text)
{
    gyre_failure failure = {.code = code};
    snprintf(failure.text, sizeof failure.text, "%s", text);
    memcpy(slot + 1, &failure, sizeof failure);
    slot->length = sizeof failure;
    slot->info = GYRE_OUTCOME_FAILED;
}

static void refuse_outcome(gyre_slot *slot)
{
    char text[48];
    snprintf(text, sizeof text, "the device told no outcome, but %u", slot->info);
    gyre_slot_fail(slot, GYRE_FAILURE_OUTCOME, text);
}

void gyre_queue_outcomes_look(const gyre_queue *queue, uint64_t first, uint64_t end)
{
    for (uint64_t index = first; index != end && gyre_reply_ready(queue, index); index++) {
        gyre_slot *slot = gyre_reply_slot(queue, index); /* the device is done with it */
        if (!gyre_outcome_is_known(slot->info))
            refuse_outcome(slot);
    }
}

void gyre_queue_show_failures(gyre_queue *queue, uint64_t first, uint64_t end)
{
    for (uint64_t index = first; (queue->levels || queue->expiry) && index != end; index++) {
        if (gyre_reply_slot(queue, index)->info != GYRE_OUTCOME_FAILED)
            continue;
        if (queue->levels && gyre_queue_levels_settle(queue, index))
            continue; /* it ended, and its deadline is nothing to it */
        if (queue->expiry)
            gyre_queue_expiry_settle(queue, index);
    }
}

void gyre_queue_reply_settle(gyre_queue *queue, uint64_t index)
{
    if (queue->seals)
        gyre_queue_seals_look(queue, index, index + 1);
    gyre_queue_outcomes_look(queue, index, index + 1);
    gyre_queue_show_failures(queue, index, index + 1);
}

void gyre_queue_take_failures(gyre_queue *queue, uint64_t first, uint64_t end)
{
    gyre_queue_show_failures(queue, first, end);
    for (uint64_t index = first; index != end; index++)
        gyre_queue_bury(queue, index);
}
