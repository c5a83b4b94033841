/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans that lie in device buffers: naming them in a message, and telling messages that wait where their
 * buffers are after a worker process was replaced. No locks of its own.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/ring/queue_inside.h"
#include "core/ring/replay.h"
#include "core/runtime/runtime.h"

gyre_status gyre_message_put_buffer(void *message, size_t size, gyre_part *part, gyre_buffer *buffer,
                                    size_t item_size, uint64_t first, uint32_t count)
{
    gyre_far far = {.address = 0};
    gyre_part place;
    if (!message || !part || !buffer || item_size == 0)
        return gyre_error_set(GYRE_INVALID, "gyre_put_buffer needs a message that was begun, a part and a "
                                            "buffer");
    if (count == 0) {
        *part = (gyre_part){0, 0};
        return GYRE_OK;
    }
    if (first > buffer->size / item_size || count > buffer->size / item_size - first)
        return gyre_error_set(GYRE_INVALID,
                              "gyre_put_buffer: %u items of %zu bytes from item %llu on of a buffer of %llu "
                              "bytes",
                              count, item_size, (unsigned long long)first, (unsigned long long)buffer->size);
    gyre_status status = gyre_buffer_handle(buffer, first * item_size, count * item_size, &far.handle);
    if (status == GYRE_OK)
        status = gyre_message_put(message, size, &place, &far, sizeof far, 1);
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&buffer->runtime->lock);
    far.address = buffer->address + far.handle.offset;
    pthread_mutex_unlock(&buffer->runtime->lock);
    memcpy((unsigned char *)message + place.offset, &far, sizeof far);
    *part = (gyre_part){place.offset | GYRE_PART_FAR, count};
    return GYRE_OK;
}

/* By the kernel's table, which stands: a name that is not there fails its message on the device. */
static void settle(void *context, gyre_far *far)
{
    const gyre_kernel *kernel = context;
    const gyre_control_handle *entry =
        &GYRE_CONTROL_HANDLES(kernel->control, kernel->blocks)[far->handle.id % GYRE_HANDLES_MAX];
    if (far->handle.id && entry->id == far->handle.id)
        far->address = entry->address + far->handle.offset;
}

void gyre_spans_settle(const gyre_kernel *kernel, void *request, uint64_t length)
{
    const gyre_layout *layout = gyre_kernel_request_layout(kernel);
    gyre_error_hold(); /* a request that is wrong is told by the device */
    if (layout && layout->tail)
        gyre_layout_visit_far(layout, request, length, settle, (void *)(uintptr_t)kernel);
    gyre_error_let_go();
}

static void settle_request(const gyre_queue *queue, void *request, uint64_t length)
{
    gyre_spans_settle(queue->kernel, request, length);
}

void gyre_spans_relocate(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    for (gyre_queue *queue = kernel->queues; queue; queue = queue->next) {
        if (queue->request_least && !queue->lent) /* a program may hold messages that it built before */
            gyre_queue_settle_requests(queue, settle_request);
        const uint64_t end = gyre_queue_next_index(queue);
        const bool may_have = queue->request_least && !queue->lent;
        for (uint64_t i = may_have ? gyre_queue_first_unanswered(queue) : end; i < end; i++) {
            const gyre_slot *slot = gyre_request_slot(queue, i);
            if (!gyre_reply_ready(queue, i) && slot->length <= queue->request_size)
                gyre_spans_settle(kernel, (void *)gyre_request_payload(queue, slot), slot->length);
        }
    }
    pthread_mutex_unlock(&kernel->lock);
}
