/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the requests and headers that callers give (check.h). No state. */
#include "core/queue/check.h"

#include <string.h>

#include "core/base/error.h"
#include "core/queue/header_words.h"
#include "core/queue/label.h"
#include "gyre/waiting.h"

gyre_status gyre_queue_check_tail(const gyre_queue *queue, const void *request, size_t size, size_t number)
{
    uint32_t used;
    char label[GYRE_LABEL_SIZE];
    memcpy(&used, request, sizeof used);
    if (used >= queue->ring.request_least && used <= size)
        return GYRE_OK;
    if (queue->choices.count > 0)
        return gyre_error_set(
            GYRE_INVALID,
            "%s takes several types: send one with gyre_send_as(queue, GYRE_TYPE(type), &request, "
            "sizeof request, NULL, deadline), which says which type it is; request %zu is of none of them",
            gyre_queue_label(queue, label, sizeof label), number);
    if (used > size)
        return gyre_error_set(
            GYRE_INVALID,
            "%s: request %zu says that it uses %u bytes, and has %zu: start it with gyre_begin, and send "
            "or reserve as many bytes as it uses",
            gyre_queue_label(queue, label, sizeof label), number, used, size);
    return gyre_error_set(
        GYRE_INVALID,
        "%s: request %zu says that it uses %u of %zu bytes, expected from %u on: start it with gyre_begin",
        gyre_queue_label(queue, label, sizeof label), number, used, size, queue->ring.request_least);
}

gyre_status gyre_queue_check_requests(const gyre_queue *queue, const void *requests, size_t size,
                                      size_t count)
{
    const unsigned char *request = requests;
    gyre_status status = GYRE_OK;
    char label[GYRE_LABEL_SIZE];
    if ((size != 0 && size == queue->ways.fixed_size) ||
        (size != 0 && size == queue->forms.caller_request_size))
        return GYRE_OK;
    if (gyre_queue_takes_nothing(queue) && size <= sizeof(gyre_none))
        return GYRE_OK;
    if (!queue->ring.request_least)
        return gyre_error_set(
            GYRE_INVALID,
            "%s takes requests of %u bytes, found a request of %zu: send the kernel's request type",
            gyre_queue_label(queue, label, sizeof label), queue->ring.request_size, size);
    if (size < queue->ring.request_least || size > queue->ring.request_size)
        return gyre_error_set(
            GYRE_INVALID,
            "%s takes requests of %u to %u bytes, found a request of %zu: send the kernel's request type",
            gyre_queue_label(queue, label, sizeof label), queue->ring.request_least, queue->ring.request_size,
            size);
    for (size_t i = 0; status == GYRE_OK && i < count; i++)
        status = gyre_queue_check_tail(queue, request + i * size, size, i);
    return status;
}

gyre_status gyre_queue_check_header(const gyre_queue *queue, const gyre_header *header)
{
    char label[GYRE_LABEL_SIZE];
    gyre_queue_label(queue, label, sizeof label);
    const char *misfit = gyre_header_misfit(header, gyre_ring_of(queue)->slots.header_size);
    if (!misfit && header->deadline_ns && header->deadline_ns <= gyre_clock_ns())
        return gyre_error_set(GYRE_TIMEOUT,
                              "the deadline in the message's header passed before the message was sent");
    if (!misfit)
        return GYRE_OK;
    if (!gyre_ring_of(queue)->slots.header_size)
        return gyre_error_set(GYRE_INVALID,
                              "the messages of %s have no header, and the given one sets '%s'; "
                              "set header = %s in the section [queue.%s]",
                              label, misfit, misfit, queue->name[0] ? queue->name : "default");
    return gyre_error_set(GYRE_INVALID,
                          "the header of %s has %u bytes, and '%s' lies behind them; "
                          "set header = %u in the section [queue.%s]",
                          label, gyre_ring_of(queue)->slots.header_size, misfit, gyre_header_needed(misfit),
                          queue->name[0] ? queue->name : "default");
}
