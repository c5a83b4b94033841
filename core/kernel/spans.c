/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Works with spans (arrays) that lie in device buffers. Names such a span in a request, reads a span that a handler names in a
 * reply, and writes new addresses into waiting requests after a worker process was replaced. No locks of its own.
 */
#include "core/kernel/spans.h"

#include <string.h>

#include "core/base/error.h"
#include "core/device/buffer.h"
#include "core/kernel/protocol.h"
#include "core/queue/convert.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/resume.h"
#include "core/queue/state.h"
#include "core/ring/express.h"
#include "core/ring/ring.h"
#include "core/ring/ring_message.h"
#include "core/stages/seals.h"
#include "core/types/far.h"
#include "core/types/message.h"

gyre_status gyre_message_put_buffer(void *message, size_t size, gyre_part *part, gyre_buffer *buffer,
                                    size_t item_size, uint64_t first, uint32_t count)
{
    gyre_far far = {.address = 0};
    gyre_part place;
    if (!message || !part || !buffer || item_size == 0 || size < sizeof(gyre_u32))
        return gyre_error_set(GYRE_INVALID, "gyre_put_buffer needs a message that was begun, a part and a "
                                            "buffer");
    gyre_status status = gyre_part_check(message, size, part);
    if (status != GYRE_OK)
        return status;
    if (first > buffer->size / item_size || count > buffer->size / item_size - first)
        return gyre_error_set(GYRE_INVALID,
                              "gyre_put_buffer: %u items of %zu bytes from item %llu on of a buffer of %llu "
                              "bytes",
                              count, item_size, (unsigned long long)first, (unsigned long long)buffer->size);
    if (count == 0) /* a handle with size 0 would mean the rest of the buffer */
        return gyre_part_put(message, size, part, NULL, item_size, 0);
    status = gyre_buffer_handle(buffer, first * item_size, count * item_size, &far.handle);
    if (status == GYRE_OK)
        status = gyre_part_put(message, size, &place, &far, sizeof far, 1);
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&buffer->runtime->lock);
    far.address = buffer->address + far.handle.offset;
    pthread_mutex_unlock(&buffer->runtime->lock);
    memcpy((unsigned char *)message + place.offset, &far, sizeof far);
    *part = (gyre_part){place.offset | GYRE_PART_FAR, count};
    return GYRE_OK;
}

/* ---- what handlers say of buffers ---- */

static gyre_status no_such_items(uint32_t there, uint64_t first, size_t count, const char *why)
{
    return gyre_error_set(GYRE_INVALID, "gyre_fetch: %zu items from %llu on of a part that has %u: %s", count,
                          (unsigned long long)first, there, why);
}

/* The buffer that `far` names on the queue's device, or NULL when the span does not lie within it. */
static gyre_buffer *find_buffer(const gyre_queue *queue, const gyre_far *far)
{
    gyre_runtime *runtime = gyre_view_of(queue)->kernel->runtime;
    pthread_mutex_lock(&runtime->lock);
    gyre_buffer *buffer = runtime->buffers;
    while (buffer && (!buffer->handle || buffer->handle != far->handle.id ||
                      buffer->dispatch != gyre_view_of(queue)->kernel->dispatch))
        buffer = buffer->next;
    pthread_mutex_unlock(&runtime->lock);
    const bool holds =
        buffer && far->handle.offset <= buffer->size && far->handle.size <= buffer->size - far->handle.offset;
    return holds ? buffer : NULL;
}

/* Reads a span that a message names. Checks every value, because a handler may have written anything. */
static gyre_status fetch_far(const gyre_queue *queue, const gyre_far *far, size_t item_size, uint64_t first,
                             void *items, size_t count)
{
    if (!gyre_view_of(queue)->kernel)
        return gyre_error_set(GYRE_UNIMPLEMENTED,
                              "gyre_fetch: the items lie in a device buffer of the program "
                              "that serves the queue, which this one cannot read");
    const gyre_buffer *buffer = find_buffer(queue, far);
    if (!buffer)
        return no_such_items((uint32_t)(far->handle.size / item_size), first, count,
                             "their buffer was freed, or is not so large");
    return gyre_buffer_download(buffer, far->handle.offset + first * item_size, items, count * item_size);
}

/* NOLINTNEXTLINE(readability-function-size): what gyre_fetch says, and the sizes that its macro adds */
gyre_status gyre_message_fetch(gyre_queue *queue, const void *message, size_t size, gyre_part part,
                               size_t item_size, uint64_t first, void *items, size_t count)
{
    const uint32_t at = part.offset & ~GYRE_PART_FAR;
    uint32_t used = 0;
    gyre_far far;
    if (!queue || !message || size < sizeof used || item_size == 0 || (!items && count))
        return gyre_error_set(GYRE_INVALID, "gyre_fetch needs a queue, a message and room for the items");
    if (first > part.count || count > part.count - first)
        return no_such_items(part.count, first, count, "ask for those that are there");
    if (count == 0)
        return GYRE_OK;
    memcpy(&used, message, sizeof used);
    if (!gyre_is_far(part)) {
        const unsigned char *near = gyre_items_(message, size, part, (uint32_t)item_size);
        if (!near)
            return no_such_items(part.count, first, count, "the part does not lie in the message");
        memcpy(items, near + first * item_size, count * item_size);
        return GYRE_OK;
    }
    if (used > size || at > used || used - at < sizeof far)
        return no_such_items(part.count, first, count, "the part does not lie in the message");
    memcpy(&far, (const unsigned char *)message + at, sizeof far);
    if (far.handle.size != (uint64_t)part.count * item_size)
        return no_such_items(part.count, first, count, "the part has another size than its buffer's");
    return fetch_far(queue, &far, item_size, first, items, count);
}

/* ---- where buffers are now ---- */

/* Writes the address of a span from the kernel's table. The device fails a message with a name that the table lacks. */
static void settle_far(void *context, gyre_far *far)
{
    const gyre_kernel *kernel = context;
    const gyre_control_handle *entry =
        &GYRE_CONTROL_HANDLES(kernel->control, kernel->blocks)[far->handle.id % GYRE_HANDLES_MAX];
    if (far->handle.id && entry->id == far->handle.id)
        far->address = entry->address + far->handle.offset;
}

void gyre_span_settle(const gyre_queue *queue, gyre_far *far)
{
    settle_far(gyre_view_of(queue)->kernel, far);
}

void gyre_spans_settle(const gyre_kernel *kernel, void *request, uint64_t length)
{
    const gyre_layout *layout = gyre_kernel_request_layout(kernel);
    gyre_error_hold(); /* the device reports a request that is wrong */
    if (layout && layout->tail)
        gyre_layout_visit_far(layout, request, length, settle_far, (void *)(uintptr_t)kernel);
    gyre_error_let_go();
}

static void settle_request(const gyre_queue *queue, void *request, uint64_t length)
{
    gyre_spans_settle(gyre_view_of(queue)->kernel, request, length);
}

void gyre_spans_relocate(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next) {
        if (!gyre_ring_of(queue)->request_least || gyre_foreign_of(queue)->lent)
            continue;
        /* and later requests: a program may have built messages before */
        gyre_queue_settle_requests(queue, settle_request);
        const uint64_t end = gyre_queue_next_index(queue);
        for (uint64_t i = gyre_queue_first_unanswered(queue); i < end; i++) {
            const gyre_slot *slot = gyre_request_slot(gyre_ring_of(queue), i);
            if (gyre_reply_ready(gyre_ring_of(queue), i) || slot->length > gyre_ring_of(queue)->request_size)
                continue;
            void *request = (void *)(uintptr_t)gyre_request_payload(gyre_ring_of(queue), slot);
            gyre_spans_settle(kernel, request, slot->length);
            if (gyre_ring_of(queue)->seals) /* the request has changed */
                gyre_seals_write(queue, i, i + 1, request, 0);
        }
        gyre_express_withdraw(gyre_ring_of(queue));
    }
    pthread_mutex_unlock(&kernel->lock);
}
