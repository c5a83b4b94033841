/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that are not in the ring as their callers have them: bytes in a wire form, which stand behind
 * their number there; types of which one side's has fields appended. No locks.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/stages/spans.h"

void gyre_queue_growth_finish(struct gyre_queue_growth *growth)
{
    gyre_layout_destroy(growth->callers);
    gyre_layout_destroy(growth->kernels);
    *growth = (struct gyre_queue_growth){NULL, NULL};
}

static gyre_status pack(const gyre_queue *queue, const unsigned char *from, size_t size, size_t count,
                        unsigned char *to)
{
    const size_t most = queue->request_size - GYRE_PACKET_FRONT;
    const uint32_t used = (uint32_t)size + GYRE_PACKET_FRONT;
    char label[96];
    if (size == 0 || size > most)
        return gyre_error_set(GYRE_INVALID,
                              "%s takes messages of 1 to %zu bytes on the wire, found one of %zu",
                              gyre_queue_label(queue, label, sizeof label), most, size);
    for (size_t i = 0; i < count; i++, to += queue->request_size) {
        memcpy(to, &used, sizeof used);
        memcpy(to + GYRE_PACKET_FRONT, from + i * size, size);
    }
    return GYRE_OK;
}

static gyre_status grow(const gyre_queue *queue, const unsigned char *from, size_t size, size_t count,
                        unsigned char *to)
{
    const struct gyre_queue_growth *growth = &queue->request_growth;
    gyre_status status = GYRE_OK;
    for (size_t i = 0; status == GYRE_OK && i < count; i++) {
        uint32_t used = 0;
        if (size >= sizeof used)
            memcpy(&used, from + i * size, sizeof used);
        status = gyre_layout_check_message(growth->callers, from + i * size, used <= size ? used : 0);
        if (status == GYRE_OK)
            status = gyre_layout_convert(growth->callers, from + i * size, growth->kernels,
                                         to + i * queue->request_size);
    }
    return status;
}

static gyre_status lengthen(const gyre_queue *queue, const unsigned char *from, size_t size, size_t count,
                            unsigned char *to)
{
    const size_t known = size < queue->request_size ? size : queue->request_size;
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * queue->request_size, from + i * size, known);
    return GYRE_OK;
}

/* Messages that are only to be settled. */
static gyre_status copy(const gyre_queue *queue, const unsigned char *from, size_t size, size_t count,
                        unsigned char *to)
{
    gyre_status status = gyre_queue_check_requests(queue, from, size, count);
    for (size_t i = 0; status == GYRE_OK && i < count; i++)
        memcpy(to + i * queue->request_size, from + i * size, size);
    return status;
}

void gyre_queue_settle_requests(gyre_queue *queue,
                                void (*settle)(const gyre_queue *queue, void *request, uint64_t length))
{
    gyre_producer_take(queue); /* who has it now is done before the caller looks at the ring */
    __atomic_store_n(&queue->settle, settle, __ATOMIC_RELEASE); /* pairs with gyre_queue_settles */
    gyre_producer_give(queue);
}

void gyre_queue_settle(const gyre_queue *queue, void *request)
{
    uint32_t used;
    if (!gyre_queue_settles(queue))
        return;
    memcpy(&used, request, sizeof used);
    if (used >= queue->request_least && used <= queue->request_size)
        queue->settle(queue, request, used);
}

bool gyre_queue_converts(const gyre_queue *queue, size_t size)
{
    return queue->packets || queue->request_growth.callers || queue->spans ||
           __builtin_expect(gyre_queue_settles(queue), 0) ||
           (size != 0 && size == queue->caller_request_size);
}

gyre_status gyre_queue_convert(gyre_queue *queue, struct gyre_outgoing *requests, uint64_t deadline_ns,
                               void **out)
{
    size_t count = (size_t)requests->count;
    gyre_status (*convert)(const gyre_queue *, const unsigned char *, size_t, size_t, unsigned char *) =
        queue->packets                  ? pack
        : queue->request_growth.callers ? grow
        : queue->request_least          ? copy
                                        : lengthen;
    void *converted = calloc(count, queue->request_size);
    *out = NULL;
    if (!converted)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for %zu requests as the kernel's type", count);
    gyre_status status = convert(queue, requests->bytes, requests->size, count, converted);
    if (status == GYRE_OK && queue->spans && count)
        status = gyre_queue_spans_take(queue, converted, &count, deadline_ns);
    for (size_t i = 0; status == GYRE_OK && i < count; i++)
        gyre_queue_settle(queue, (unsigned char *)converted + i * queue->request_size);
    if (status == GYRE_OK)
        *out = converted;
    else
        free(converted);
    requests->count = count;
    return status;
}

void gyre_queue_unconvert(gyre_queue *queue, void *converted, uint64_t first, uint64_t end)
{
    if (converted && queue->spans)
        gyre_queue_spans_give_back(queue, converted, first, end);
}

gyre_status gyre_queue_shrink_reply(const gyre_queue *queue, const void *message, uint32_t *length,
                                    void *reply, size_t size)
{
    const struct gyre_queue_growth *growth = &queue->reply_growth;
    if (size < growth->callers->size)
        return gyre_error_set(
            GYRE_INVALID,
            "the caller's buffer has %zu bytes, expected all of its type, which differs from "
            "the kernel's: pass one of %llu",
            size, (unsigned long long)growth->callers->size);
    void *copy = malloc((size_t)*length + 1); /* who serves the queue may write there still */
    if (!copy)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a reply as the caller's type");
    gyre_status status = gyre_layout_check_message(growth->kernels, memcpy(copy, message, *length), *length);
    if (status == GYRE_OK)
        status = gyre_layout_convert(growth->kernels, copy, growth->callers, reply);
    free(copy);
    if (status != GYRE_OK)
        return gyre_error_add(GYRE_INTERNAL, "the reply cannot be turned into the caller's type");
    *length = (uint32_t)gyre_layout_length(growth->callers, reply);
    return GYRE_OK;
}
