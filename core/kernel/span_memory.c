/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates and fills device memory for a queue's large spans (setting span_handles). The memory is an ordinary buffer with a
 * name, so kernels find it in their tables, also in the next worker process. No locks of its own.
 */
#include "core/kernel/span_memory.h"

#include <time.h>

#include "core/base/error.h"
#include "core/device/buffer.h"
#include "core/kernel/protocol.h"
#include "core/kernel/spans.h"
#include "core/queue/queue.h"
#include "core/stages/spans.h"

enum { TRIES_MAX = 1000, TRY_NS = 5000000 };

/* True when a transfer has to be repeated, because a worker died during it and is replaced. */
static bool try_again(const gyre_queue *queue, gyre_status status, uint32_t *tries)
{
    if (status != GYRE_LOST || !gyre_ways_of(queue)->device_returns || ++*tries > TRIES_MAX ||
        gyre_kernel_get_state(gyre_view_of(queue)->kernel) == GYRE_KERNEL_LOST)
        return false;
    nanosleep(&(struct timespec){0, TRY_NS}, NULL);
    return true;
}

static gyre_status upload(void *context, uint64_t offset, const void *bytes, uint64_t size)
{
    const gyre_queue *queue = context;
    uint32_t tries = 0;
    gyre_status status;
    do
        status = gyre_buffer_upload(gyre_view_of(queue)->span_memory, offset, bytes, size);
    while (try_again(queue, status, &tries));
    return status;
}

static gyre_status download_span(void *context, uint64_t offset, void *bytes, uint64_t size)
{
    const gyre_queue *queue = context;
    uint32_t tries = 0;
    gyre_status status;
    do
        status = gyre_buffer_download(gyre_view_of(queue)->span_memory, offset, bytes, size);
    while (try_again(queue, status, &tries));
    return status;
}

static gyre_status create(gyre_kernel *kernel, const char *section, gyre_queue *queue)
{
    gyre_handle handle;
    const uint64_t size = (uint64_t)gyre_kernel_queue_setting(kernel, section, "span_memory");
    gyre_status status =
        gyre_buffer_alloc_on(kernel->runtime, kernel->dispatch, size, &gyre_view_for(queue)->span_memory);
    if (status == GYRE_OK)
        status = gyre_buffer_handle(gyre_view_of(queue)->span_memory, 0, 0, &handle);
    if (status != GYRE_OK)
        return status;
    const struct gyre_span_store store = {
        .layout = gyre_kernel_request_layout(kernel),
        .threshold = (uint64_t)gyre_kernel_queue_setting(kernel, section, "span_handles"),
        .handle = handle.id,
        .size = size,
        .context = queue,
        .upload = upload,
        .download = download_span,
        .settle = gyre_span_settle};
    return gyre_spans_create(queue, &store);
}

gyre_status gyre_span_memory_create(gyre_kernel *kernel, const char *section, gyre_queue *queue)
{
    const char *name = section[0] ? section : "default";
    if (gyre_kernel_queue_setting(kernel, section, "span_handles") == 0 ||
        !gyre_ring_of(queue)->request_least)
        return GYRE_OK;
    gyre_status status = create(kernel, section, queue);
    return status == GYRE_OK
               ? status
               : gyre_error_add(status,
                                "queue '%s' of kernel '%s' is to have %lld bytes for spans "
                                "(span_handles, span_memory)",
                                name, kernel->name,
                                (long long)gyre_kernel_queue_setting(kernel, section, "span_memory"));
}

void gyre_span_memory_destroy(gyre_buffer *memory)
{
    gyre_error_hold(); /* fails while a handler that does not return may use it; then the runtime's end frees it */
    (void)gyre_buffer_free(memory);
    gyre_error_let_go();
}
