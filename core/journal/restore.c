/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the content of a journal into a new queue, which goes on where the journal's queue ended (gyre_journal_restore
 * in journal.h). No device uses the queue yet.
 */
#include "core/journal/journal.h"

#include <string.h>

#include "core/base/error.h"
#include "core/queue/choice_rules.h"
#include "core/queue/names.h"
#include "core/queue/origin.h"
#include "core/queue/queue.h"
#include "core/ring/ring.h"
#include "core/queue/side.h"
#include "core/stages/expiry.h"
#include "core/stages/log.h"
#include "core/stages/seals.h"

static struct gyre_logged_request request_of(const struct gyre_journal_content *content, uint64_t index)
{
    const struct gyre_kept_message *kept = &content->requests[index - content->first];
    struct gyre_logged_request request = {.payload = (void *)(uintptr_t)kept->payload,
                                          .length = kept->length,
                                          .query = gyre_kept_is_query(kept)};
    if (kept->header)
        memcpy(&request.header, kept->header, content->open.header_size);
    return request;
}

static void put_reply(gyre_queue *queue, uint64_t index, const struct gyre_kept_message *reply)
{
    gyre_slot *slot = gyre_reply_slot(gyre_ring_of(queue), index);
    const uint32_t most = gyre_ring_of(queue)->slots.reply_stride - GYRE_SLOT_HEADER_SIZE;
    const uint32_t length = reply->length < most ? reply->length : most;
    slot->length = length;
    slot->info = reply->info;
    memcpy(slot + 1, reply->payload, length);
    if (gyre_ring_of(queue)->seals)
        gyre_seals_reply(queue, index);
    __atomic_store_n(&slot->sequence, index + 1, __ATOMIC_RELEASE); /* pairs with gyre_reply_ready */
}

static gyre_status put_names(const struct gyre_names *from, struct gyre_names *to)
{
    for (size_t i = 0; i < from->count; i++)
        if (!gyre_names_note(to, from->all[i].client, from->all[i].next))
            return gyre_error_set(GYRE_EXHAUSTED, "no memory for the names of clients");
    return GYRE_OK;
}

static void put_origin(gyre_queue *queue, uint64_t index, const struct gyre_record_origin *origin)
{
    gyre_origin_set(queue, index, (struct gyre_origin){origin->client, origin->index});
}

static gyre_status too_many(const struct gyre_journal_content *content, const gyre_queue *queue)
{
    return gyre_error_set(
        GYRE_EXHAUSTED,
        "the journal of queue '%s' holds %llu requests whose replies were not taken, and the "
        "queue's capacity is %llu: use a larger one",
        content->open.queue, (unsigned long long)(content->sent - content->received),
        (unsigned long long)gyre_ring_of(queue)->capacity);
}

/*
 * Refuses a journal with a request that is too long for the queue's slots and log, whatever size its OPEN record
 * says.
 */
static gyre_status check_lengths(const struct gyre_journal_content *content, const gyre_queue *queue)
{
    for (uint64_t index = content->first; index < content->sent; index++) {
        const struct gyre_kept_message *request = &content->requests[index - content->first];
        if (!gyre_kept_is_query(request) && request->length > gyre_ring_of(queue)->request_size)
            return gyre_error_set(
                GYRE_INVALID,
                "the journal of queue '%s' holds request %llu of %u bytes, and the queue's have %u "
                "at most; move it away to begin without it",
                content->open.queue, (unsigned long long)index, request->length,
                gyre_ring_of(queue)->request_size);
    }
    return GYRE_OK;
}

/*
 * Puts a query into the queue again. The journal holds no payload of a query, so the query cannot be handled again:
 * complete_query writes its reply. The slot gets an empty query, which the device passes over.
 */
static bool offer_query(gyre_queue *queue, struct gyre_logged_request *request)
{
    uint32_t front[GYRE_CHOICE_FRONT / sizeof(uint32_t)] = {GYRE_CHOICE_FRONT,
                                                            gyre_choice_any_query(gyre_choices_of(queue))};
    request->payload = front;
    request->length = sizeof front;
    return gyre_queue_put_logged(queue, request);
}

static void complete_query(gyre_queue *queue, uint64_t index, const struct gyre_kept_message *reply)
{
    static const unsigned char nothing[GYRE_RECORD_ALIGNMENT];
    const struct gyre_kept_message unhandled = {.payload = nothing, .info = GYRE_OUTCOME_UNHANDLED};
    put_reply(queue, index, reply->payload ? reply : &unhandled);
}

/*
 * Puts a request into the queue again, without its deadline; the caller has switched off the queue's own time to
 * live. The request must not expire, because a handler may have handled it before the program died, and the
 * checkpoint may hold the result.
 */
static gyre_status offer_again(const struct gyre_journal_content *content, uint64_t index, gyre_queue *queue)
{
    struct gyre_logged_request request = request_of(content, index);
    const struct gyre_kept_message *reply = &content->replies[index - content->first];
    request.header.deadline_ns = 0;
    request.header.sent_ns += gyre_queue_sent_shift(queue);
    if (content->origins)
        put_origin(queue, index, &content->origins[index - content->first]);
    if (!(request.query ? offer_query(queue, &request) : gyre_queue_put_logged(queue, &request)))
        return too_many(content, queue);
    if (request.query)
        complete_query(queue, index, reply);
    else if (reply->payload)
        put_reply(queue, index, reply);
    return GYRE_OK;
}

gyre_status gyre_journal_restore(const struct gyre_journal_content *content, gyre_queue *queue)
{
    uint64_t first = content->covered > content->first ? content->covered : content->first;
    if (content->sent - content->received > gyre_ring_of(queue)->capacity)
        return too_many(content, queue);
    gyre_status status = check_lengths(content, queue);
    if (status == GYRE_OK && content->origins)
        status = gyre_origins_create(queue);
    if (status == GYRE_OK)
        status = put_names(&content->names, &gyre_foreign_for(queue)->names);
    if (status != GYRE_OK)
        return status;
    for (uint64_t index = first; gyre_log_of(queue)->keeps && index < content->received; index++) {
        struct gyre_logged_request request = request_of(content, index);
        uint64_t place = index - content->first;
        request.header.sent_ns += gyre_queue_sent_shift(queue);
        gyre_queue_log_put(queue, index, &request, !content->skipped[place] && !content->done[place]);
    }
    const uint64_t ttl_ns = gyre_expiry_set(queue, 0);
    for (uint64_t index = content->received; status == GYRE_OK && index < content->sent; index++)
        status = offer_again(content, index, queue);
    gyre_expiry_set(queue, ttl_ns);
    return status;
}
