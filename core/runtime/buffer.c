/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device buffers: made, listed, freed. Lock: runtime->lock for the list and the number of kernels that use a buffer.
 */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/runtime/runtime.h"

gyre_status gyre_memory_fill_zero(struct gyre_dispatch *dispatch, gyre_memory *memory, uint64_t size)
{
    gyre_transfer_desc fill = {
        .size = sizeof fill, .kind = GYRE_TRANSFER_FILL, .memory = memory, .byte_count = size};
    return gyre_dispatch_transfer(dispatch, &fill);
}

gyre_status gyre_buffer_alloc_on(gyre_runtime *runtime, struct gyre_dispatch *dispatch, uint64_t size,
                                 gyre_buffer **out)
{
    *out = NULL;
    gyre_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a buffer");
    buffer->runtime = runtime;
    buffer->size = size;
    buffer->dispatch = dispatch;
    gyre_status status = gyre_dispatch_memory_alloc(buffer->dispatch, size, &buffer->memory);
    if (status == GYRE_OK)
        status = gyre_memory_fill_zero(buffer->dispatch, buffer->memory, size);
    if (status != GYRE_OK) {
        if (buffer->memory)
            gyre_dispatch_memory_release(buffer->dispatch, buffer->memory);
        free(buffer);
        return status;
    }
    pthread_mutex_lock(&runtime->lock);
    buffer->next = runtime->buffers;
    runtime->buffers = buffer;
    pthread_mutex_unlock(&runtime->lock);
    *out = buffer;
    return GYRE_OK;
}

gyre_status gyre_buffer_alloc(gyre_runtime *runtime, const char *backend, uint32_t device, uint64_t size,
                              gyre_buffer **out)
{
    struct gyre_dispatch *dispatch = NULL;
    if (!runtime || !out || size == 0)
        return gyre_error_set(GYRE_INVALID,
                              "gyre_buffer_alloc needs a runtime, a place for the buffer and a size above 0");
    *out = NULL;
    gyre_status status = gyre_runtime_check_own(runtime, "gyre_buffer_alloc");
    if (status == GYRE_OK)
        status = gyre_runtime_device(runtime, backend, device, &dispatch);
    return status == GYRE_OK ? gyre_buffer_alloc_on(runtime, dispatch, size, out) : status;
}

/* Returns how many kernels run with it, which keep it: then it is not to go. */
static uint32_t begin_free(gyre_buffer *buffer)
{
    pthread_mutex_lock(&buffer->runtime->lock);
    const uint32_t bound = buffer->bound;
    buffer->going = bound == 0;
    pthread_mutex_unlock(&buffer->runtime->lock);
    return bound;
}

/* It stays after all. */
static void keep(gyre_buffer *buffer)
{
    pthread_mutex_lock(&buffer->runtime->lock);
    buffer->going = false;
    pthread_mutex_unlock(&buffer->runtime->lock);
}

/* Kernels that ended cannot be launched again with it. */
static void unlist(gyre_buffer *buffer)
{
    gyre_runtime *runtime = buffer->runtime;
    pthread_mutex_lock(&runtime->lock);
    for (gyre_kernel *kernel = runtime->kernels; kernel; kernel = kernel->next)
        gyre_kernel_forget_buffer(kernel, buffer);
    struct gyre_buffer **link = &runtime->buffers;
    while (*link != buffer)
        link = &(*link)->next;
    *link = buffer->next;
    pthread_mutex_unlock(&runtime->lock);
}

static void destroy(gyre_buffer *buffer)
{
    gyre_dispatch_memory_release(buffer->dispatch, buffer->memory);
    free(buffer);
}

gyre_status gyre_buffer_free(gyre_buffer *buffer)
{
    if (!buffer || buffer->runtime->foreign)
        return GYRE_OK;
    const uint32_t bound = begin_free(buffer);
    if (bound)
        return gyre_error_set(GYRE_INVALID, "the buffer is bound to %u running kernel%s; terminate %s first",
                              bound, gyre_text_plural(bound), bound == 1 ? "it" : "them");
    gyre_status status = gyre_handles_withdraw(buffer);
    if (status != GYRE_OK) {
        keep(buffer);
        return status;
    }
    unlist(buffer);
    destroy(buffer);
    return GYRE_OK;
}

/* Nobody else uses the runtime now. What a handler that never returned may still touch stays. */
void gyre_buffers_close(gyre_runtime *runtime)
{
    while (runtime->buffers) {
        gyre_buffer *buffer = runtime->buffers;
        runtime->buffers = buffer->next;
        if (!buffer->bound)
            destroy(buffer);
    }
}

uint64_t gyre_buffer_size(const gyre_buffer *buffer)
{
    return buffer ? buffer->size : 0;
}
