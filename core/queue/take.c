/* SPDX-License-Identifier: Apache-2.0 */
/* Takes completions: settles outcomes, copies replies, fills in completions (take.h). The calling function holds the lock. */
#include "core/queue/take.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/info_give.h"
#include "core/base/probe.h"
#include "core/base/text.h"
#include "core/queue/convert.h"
#include "core/queue/label.h"
#include "core/queue/line.h"
#include "core/queue/state.h"
#include "core/ring/outcome.h"

/* an outcome has the same number in a slot and in gyre.h */
_Static_assert((int)GYRE_REPLIED == (int)GYRE_OUTCOME_REPLY, "replied");
_Static_assert((int)GYRE_NOT_REPLIED == (int)GYRE_OUTCOME_NO_REPLY, "not replied");
_Static_assert((int)GYRE_HANDLER_FAILED == (int)GYRE_OUTCOME_FAILED, "failed");
_Static_assert((int)GYRE_WAS_DROPPED == (int)GYRE_OUTCOME_DROPPED, "dropped");
_Static_assert((int)GYRE_WAS_UNHANDLED == (int)GYRE_OUTCOME_UNHANDLED, "unhandled");

/* Lets the stages write the cause of a failure. If a stage finds that the message did not fail at all, later stages are not
 * asked. */
static void failure_settle(gyre_queue *queue, uint64_t index, bool taken)
{
    for (size_t i = 0; queue->stages.failed[i]; i++)
        if (gyre_reply_slot(&queue->ring, index)->info == GYRE_OUTCOME_FAILED)
            queue->stages.failed[i](queue, index, taken);
}

static void failures_settle(gyre_queue *queue, uint64_t first, uint64_t end, bool taken)
{
    for (uint64_t index = first; queue->stages.failed[0] && index != end; index++)
        failure_settle(queue, index, taken);
}

void gyre_failures_show(gyre_queue *queue, uint64_t first, uint64_t end)
{
    failures_settle(queue, first, end, false);
}

void gyre_failures_take(gyre_queue *queue, uint64_t first, uint64_t end)
{
    failures_settle(queue, first, end, true);
}

void gyre_queue_reply_look(gyre_queue *queue, uint64_t index)
{
    gyre_replies_see(queue, index, index + 1);
    gyre_outcomes_look(&queue->ring, index, index + 1);
    gyre_failures_show(queue, index, index + 1);
}

/* Writes the number of a message's type into the sentence of a failure, because the device cannot format text. The number
 * stands in the request, whose slot is not given back yet. */
static void completion_name_type(const gyre_queue *queue, uint64_t index, gyre_completion *completion)
{
    uint32_t number;
    const unsigned char *request = gyre_request_payload(&queue->ring, gyre_request_slot(&queue->ring, index));
    memcpy(&number, request + sizeof number, sizeof number);
    snprintf(completion->failure_text, sizeof completion->failure_text, "no handler for type number %u",
             number);
}

static gyre_failure failure_in(const gyre_slot *slot)
{
    gyre_failure failure;
    memcpy(&failure, slot + 1, sizeof failure);
    return failure;
}

void gyre_failures_trace(const gyre_queue *queue, uint64_t first, uint64_t end)
{
    for (uint64_t index = first; index != end; index++) {
        const gyre_slot *slot = gyre_reply_slot(&queue->ring, index);
        if (gyre_slot_info(slot) == GYRE_OUTCOME_FAILED)
            GYRE_PROBE3(failed, gyre_queue_name(queue), gyre_line_index(queue, index), failure_in(slot).code);
    }
}

/* Fills in the members of a completion. `info` and `length` were read from the slot and checked, so they are not read there
 * again. */
static void read_completion(const gyre_queue *queue, uint64_t index, uint32_t info, uint32_t length,
                            gyre_completion *completion)
{
    const gyre_slot *slot = gyre_reply_slot(&queue->ring, index);
    completion->index = gyre_line_index(queue, index);
    completion->outcome = (gyre_completion_outcome)info;
    completion->failure_code = 0;
    completion->length = length;
    completion->failure_text[0] = '\0';
    if (info == GYRE_OUTCOME_FAILED) {
        gyre_failure failure = failure_in(slot);
        failure.text[sizeof failure.text - 1] = '\0';
        if (failure.text[sizeof failure.text - 2])
            gyre_text_end_whole(failure.text);
        memcpy(completion->failure_text, failure.text, sizeof failure.text);
        completion->failure_code = failure.code;
        if (failure.code == GYRE_FAILURE_TYPE)
            completion_name_type(queue, index, completion);
        GYRE_PROBE3(failed, gyre_queue_name(queue), completion->index, failure.code);
    }
}

gyre_status gyre_queue_tell_outcome(const gyre_queue *queue, const gyre_completion *completion)
{
    const unsigned long long index = completion->index;
    switch (completion->outcome) {
    case GYRE_HANDLER_FAILED:
        return gyre_error_set(GYRE_FAILED, "the handler failed request %llu with code %d: %s", index,
                              completion->failure_code, completion->failure_text);
    case GYRE_NOT_REPLIED:
        return gyre_error_set(GYRE_FAILED, "the handler did not reply to request %llu", index);
    default:
        if (gyre_queue_gone(queue))
            return gyre_error_add(gyre_queue_tell_lost(queue), "request %llu was not handled", index);
        return gyre_error_set(GYRE_CLOSED,
                              "request %llu was not handled: its kernel was terminated or dropped it", index);
    }
}

static gyre_status outcome_error(const gyre_queue *queue, uint64_t index, uint32_t info)
{
    gyre_completion completion;
    read_completion(queue, index, info, 0, &completion);
    return gyre_queue_tell_outcome(queue, &completion);
}

gyre_status gyre_queue_read_reply(gyre_queue *queue, uint64_t index, void *reply, size_t size,
                                  gyre_completion *completion)
{
    gyre_replies_see(queue, index, index + 1);
    const gyre_slot *slot = gyre_reply_slot(&queue->ring, index);
    uint32_t info = gyre_slot_info(slot);
    if (__builtin_expect(!gyre_outcome_is_known(info), 0))
        info = (gyre_outcomes_look(&queue->ring, index, index + 1), GYRE_OUTCOME_FAILED);
    uint32_t length = info == GYRE_OUTCOME_REPLY ? gyre_slot_length(slot) : 0;
    if (length > queue->ring.reply_size)
        return gyre_error_set(
            GYRE_INTERNAL,
            "reply %llu says that it has %u bytes in a slot for %u: the backend wrote a wrong length",
            (unsigned long long)index, length, queue->ring.reply_size);
    const unsigned char *bytes = gyre_reply_payload(queue->ring.bytes, slot, length);
    if (!bytes)
        return gyre_error_set(GYRE_INTERNAL,
                              "reply %llu lies outside of its ring of bytes: the backend wrote a wrong place",
                              (unsigned long long)index);
    if (queue->forms.packets)
        bytes = gyre_packet_bytes(bytes, &length);
    if (length && queue->forms.reply_growth.callers) {
        gyre_status status = gyre_queue_shrink_reply(queue, bytes, &length, reply, size);
        if (status != GYRE_OK)
            return status;
        bytes = reply;
    }
    if (length > size && size && size == queue->forms.caller_reply_size)
        length = (uint32_t)size; /* leaves out fields that the caller's type does not have */
    if (length > size)
        return gyre_error_set(GYRE_INVALID,
                              "the reply has %u bytes and the caller's buffer %zu: pass a larger one", length,
                              size);
    if (length && bytes != reply)
        gyre_payload_copy(reply, bytes, length);
    if (info == GYRE_OUTCOME_FAILED) {
        gyre_failures_take(queue, index, index + 1);
        if (gyre_slot_info(slot) == GYRE_OUTCOME_UNHANDLED) /* a stage found that no handler ran */
            info = GYRE_OUTCOME_UNHANDLED;
    }
    if (completion)
        read_completion(queue, index, info, length, completion);
    else if (info != GYRE_OUTCOME_REPLY)
        return outcome_error(queue, index, info);
    return GYRE_OK;
}

void gyre_reply_tell(const gyre_queue *queue, uint64_t index, gyre_message_info *info)
{
    gyre_message_info now = {0};
    for (size_t i = 0; queue->stages.told[i]; i++)
        queue->stages.told[i](queue, index, &now);
    gyre_info_give(info, &now, sizeof now);
}

void gyre_replies_give_back(gyre_queue *queue, uint64_t first, uint64_t end)
{
    if (first == end)
        return;
    if (queue->ring.bytes)
        gyre_bytes_give_back(&queue->ring, first, end);
    for (size_t i = 0; queue->stages.passed[i]; i++)
        queue->stages.passed[i](queue, first, end);
}
