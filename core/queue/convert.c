/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts messages between their callers' form and the form in the ring (convert.h). In the ring, encoded bytes stand behind
 * a word with their count, and a message of a grown type has the kernel's fields. Only gyre_queue_settle_requests takes a
 * lock.
 */
#include "core/queue/convert.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/queue/check.h"
#include "core/queue/label.h"
#include "core/queue/side.h"
#include "core/types/convert.h"
#include "core/types/message.h"

void gyre_queue_growth_finish(struct gyre_queue_growth *growth)
{
    gyre_layout_destroy(growth->callers);
    gyre_layout_destroy(growth->kernels);
    *growth = (struct gyre_queue_growth){NULL, NULL};
}

static gyre_status requests_pack(const gyre_queue *queue, const unsigned char *from, size_t size,
                                 size_t count, unsigned char *to)
{
    const size_t most = queue->ring.request_size - GYRE_PACKET_FRONT;
    const uint32_t used = (uint32_t)size + GYRE_PACKET_FRONT;
    char label[GYRE_LABEL_SIZE];
    if (size == 0 || size > most)
        return gyre_error_set(GYRE_INVALID,
                              "%s takes messages of 1 to %zu bytes on the wire, found a message of %zu",
                              gyre_queue_label(queue, label, sizeof label), most, size);
    for (size_t i = 0; i < count; i++, to += queue->ring.request_size) {
        memcpy(to, &used, sizeof used);
        memcpy(to + GYRE_PACKET_FRONT, from + i * size, size);
    }
    return GYRE_OK;
}

static gyre_status requests_grow(const gyre_queue *queue, const unsigned char *from, size_t size,
                                 size_t count, unsigned char *to)
{
    const struct gyre_queue_growth *growth = &queue->forms.request_growth;
    gyre_status status = GYRE_OK;
    for (size_t i = 0; status == GYRE_OK && i < count; i++) {
        uint32_t used = 0;
        if (size >= sizeof used)
            memcpy(&used, from + i * size, sizeof used);
        status = gyre_layout_check_message(growth->callers, from + i * size, used <= size ? used : 0);
        if (status == GYRE_OK)
            status = gyre_layout_convert(growth->callers, from + i * size, growth->kernels,
                                         to + i * queue->ring.request_size);
    }
    return status;
}

static gyre_status requests_lengthen(const gyre_queue *queue, const unsigned char *from, size_t size,
                                     size_t count, unsigned char *to)
{
    const size_t known = size < queue->ring.request_size ? size : queue->ring.request_size;
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * queue->ring.request_size, from + i * size, known);
    return GYRE_OK;
}

/* Copies messages as they are, so that they can be settled. */
static gyre_status requests_copy(const gyre_queue *queue, const unsigned char *from, size_t size,
                                 size_t count, unsigned char *to)
{
    gyre_status status = gyre_queue_check_requests(queue, from, size, count);
    for (size_t i = 0; status == GYRE_OK && i < count; i++)
        memcpy(to + i * queue->ring.request_size, from + i * size, size);
    return status;
}

void gyre_queue_settle_requests(gyre_queue *queue,
                                void (*settle)(const gyre_queue *queue, void *request, uint64_t length))
{
    gyre_producer_take(queue); /* so a send under way ends before the caller looks at the ring */
    __atomic_store_n(&queue->forms.settle, settle, __ATOMIC_RELEASE); /* pairs with gyre_queue_settles */
    gyre_producer_give(queue);
}

void gyre_queue_settle(const gyre_queue *queue, void *request)
{
    uint32_t used;
    if (!gyre_queue_settles(queue))
        return;
    memcpy(&used, request, sizeof used);
    if (used >= queue->ring.request_least && used <= queue->ring.request_size)
        queue->forms.settle(queue, request, used);
}

gyre_status gyre_queue_convert(const gyre_queue *queue, const void *from, size_t size, size_t count, void *to)
{
    gyre_status (*convert)(const gyre_queue *, const unsigned char *, size_t, size_t, unsigned char *) =
        queue->forms.packets                  ? requests_pack
        : queue->forms.request_growth.callers ? requests_grow
        : queue->ring.request_least           ? requests_copy
                                              : requests_lengthen;
    return convert(queue, from, size, count, to);
}

gyre_status gyre_queue_shrink_reply(const gyre_queue *queue, const void *message, uint32_t *length,
                                    void *reply, size_t size)
{
    const struct gyre_queue_growth *growth = &queue->forms.reply_growth;
    if (size < growth->callers->size)
        return gyre_error_set(
            GYRE_INVALID,
            "the caller's buffer has %zu bytes: its type differs from the kernel's, so pass room for all of "
            "it, %llu bytes",
            size, (unsigned long long)growth->callers->size);
    void *copy = malloc((size_t)*length + 1); /* a server may still write to the message */
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
