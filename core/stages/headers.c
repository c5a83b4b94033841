/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers of messages: written beside the slots before a request is published, read when its completion is
 * taken. Nothing here runs for queues that have none.
 *
 * Locks: the caller's. Headers of unsent requests are the producers', of the others nobody writes until the
 * slot is given back.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/base/info.h"
#include "core/stages/behaviours.h"
#include "core/queue/header.h"
#include "gyre/waiting.h"

static unsigned char *header_at(const gyre_queue *queue, uint64_t index)
{
    return queue->headers + (index & queue->mask) * queue->header_size;
}

static bool needs_clock(const gyre_queue *queue)
{
    return queue->header_size > offsetof(gyre_header, sent_ns) || queue->ttl_ns;
}

void gyre_queue_header_complete(const gyre_queue *queue, gyre_header *header, uint64_t index, uint64_t now_ns)
{
    if (header->type == 0)
        header->type = queue->request_type;
    if (header->id == 0)
        header->id = index + 1;
    header->sent_ns = now_ns;
    if (queue->expiry && header->deadline_ns == 0)
        header->deadline_ns = gyre_queue_expiry_deadline(queue, now_ns);
}

/* Moves of constant size: a call for each message would cost more than its header. */
static void store(unsigned char *to, const gyre_header *header, uint32_t size)
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
 * A header that no sender gave, where messages have no deadline; `size` is a constant. Word by word into its
 * place: one that was built beside it and copied would wait for its own last store.
 */
__attribute__((always_inline)) static inline void fill_plain(gyre_queue *queue, uint64_t first, uint64_t end,
                                                             uint32_t size, uint64_t now_ns)
{
    unsigned char *const headers = queue->headers;
    const uint64_t mask = queue->mask;
    const gyre_header header = {.type = queue->request_type, .sent_ns = now_ns};
    for (uint64_t index = first; index != end; index++) {
        unsigned char *place = headers + (index & mask) * size;
        const uint64_t id = index + 1;
        memcpy(place, &header, offsetof(gyre_header, id));
        memcpy(place + offsetof(gyre_header, id), &id, sizeof id);
        memcpy(place + 16, (const unsigned char *)&header + 16, size - 16);
    }
}

static void fill_all_plain(gyre_queue *queue, uint64_t first, uint64_t end, uint64_t now_ns)
{
    switch (queue->header_size) {
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

/* Who named a type itself is believed. */
void gyre_queue_headers_name(const gyre_queue *queue, uint64_t first, uint64_t end, const void *requests,
                             size_t size)
{
    const unsigned char *request = requests;
    for (uint64_t index = first; index != end; index++, request += size) {
        unsigned char *place = header_at(queue, index) + offsetof(gyre_header, type);
        uint32_t type, number;
        memcpy(&type, place, sizeof type);
        memcpy(&number, request + GYRE_CHOICE_FRONT - sizeof number, sizeof number);
        if (type == queue->request_type && number != 0 && number <= queue->choice_count)
            memcpy(place, &queue->choice_types[number - 1], sizeof type);
    }
}

/* What a reservation's header says was put at its place by gyre_reserve_header. */
static void fill_given(gyre_queue *queue, uint64_t first, uint64_t end, uint64_t now_ns)
{
    const gyre_header *given = queue->producer.given;
    const bool reserved = gyre_is_reserving(queue);
    const uint32_t size = queue->header_size;
    for (uint64_t index = first; index != end; index++) {
        gyre_header header = {0};
        unsigned char *place = header_at(queue, index);
        if (reserved)
            memcpy(&header, place, size);
        else if (given)
            header = given[index - first];
        if (!queue->levels) /* there it was complete when the message was sent */
            gyre_queue_header_complete(queue, &header, index, now_ns);
        store(place, &header, size);
        if (queue->expiry)
            gyre_queue_expiry_sent(queue, index, header.deadline_ns);
    }
}

void gyre_queue_headers_sent(gyre_queue *queue, uint64_t first, uint64_t end)
{
    const uint64_t now_ns = needs_clock(queue) ? gyre_clock_ns() : 0;
    if (queue->producer.given || gyre_is_reserving(queue) || queue->ttl_ns ||
        (queue->expiry && gyre_queue_expiry_used(queue, first)))
        fill_given(queue, first, end, now_ns);
    else
        fill_all_plain(queue, first, end, now_ns);
}

uint64_t gyre_queue_correlation(const gyre_queue *queue, uint64_t index)
{
    uint64_t correlation = 0;
    if (queue->header_size > offsetof(gyre_header, correlation))
        memcpy(&correlation, header_at(queue, index) + offsetof(gyre_header, correlation),
               sizeof correlation);
    return correlation;
}

void gyre_queue_headers_clear(gyre_queue *queue, uint64_t first, uint64_t end)
{
    for (uint64_t index = first; index != end; index++)
        memset(header_at(queue, index), 0, queue->header_size);
}

gyre_status gyre_queue_check_header(const gyre_queue *queue, const gyre_header *header)
{
    char label[96];
    gyre_queue_label(queue, label, sizeof label);
    const char *misfit = gyre_header_misfit(header, queue->header_size);
    if (!misfit && header->deadline_ns && header->deadline_ns <= gyre_clock_ns())
        return gyre_error_set(GYRE_TIMEOUT, "the message's own deadline passed before it was sent");
    if (!misfit)
        return GYRE_OK;
    if (!queue->header_size)
        return gyre_error_set(GYRE_INVALID,
                              "the messages of %s have no header, and the given one sets '%s'; "
                              "set header = %s in the section [queue.%s]",
                              label, misfit, misfit, queue->name[0] ? queue->name : "default");
    return gyre_error_set(GYRE_INVALID,
                          "the header of %s has %u bytes, and '%s' lies behind them; "
                          "set header = %u in the section [queue.%s]",
                          label, queue->header_size, misfit, gyre_header_needed(misfit),
                          queue->name[0] ? queue->name : "default");
}

void gyre_queue_info(gyre_queue *queue, uint64_t index, gyre_message_info *info)
{
    gyre_message_info now = {.header_size = queue->header_size};
    gyre_timing timing = {0};
    if (queue->headers)
        memcpy(&now.header, header_at(queue, index), queue->header_size);
    if (queue->timing && gyre_queue_timing_find(queue, index, &timing)) {
        now.started_ns = timing.started_ns;
        now.finished_ns = timing.finished_ns;
        now.time_error_ns = timing.error_ns;
    }
    gyre_info_give(info, &now, sizeof now);
}

gyre_status gyre_reserve_header(gyre_queue *queue, size_t number, const gyre_header *header)
{
    gyre_status status;
    char label[96];
    if (!queue || !header)
        return GYRE_ARGUMENTS("gyre_reserve_header", {"queue", queue}, {"header", header});
    status = gyre_queue_check_header(queue, header);
    if (status != GYRE_OK || !queue->headers)
        return status;
    gyre_producer_take(queue);
    if (gyre_is_reserving(queue) && number < queue->producer.reserved)
        store(header_at(queue, queue->producer.sent + number), header, queue->header_size);
    else
        status = gyre_error_set(
            GYRE_INVALID, "%s has %llu reserved requests, asked for the header of number %zu",
            gyre_queue_label(queue, label, sizeof label),
            (unsigned long long)(gyre_is_reserving(queue) ? queue->producer.reserved : 0), number);
    gyre_producer_give(queue);
    return status;
}
