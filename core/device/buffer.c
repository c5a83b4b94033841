/* SPDX-License-Identifier: Apache-2.0 */
/* Makes device buffers and lists them. Freeing a buffer: core/kernel/buffer_free.c. Lock: runtime->lock for the list. */
#include "core/device/buffer.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory_left.h"
#include "core/device/devices.h"
#include "core/dispatch/dispatch.h"

/*
 * Nobody but the backend knows whether memory of its device is memory of this machine. So large memory is filled piece by piece,
 * and between the pieces one looks whether that took memory of this process's control groups or of the machine.
 */
enum { PIECE_LEAST = 1 << 16, PIECE_MOST = 1 << 24, SPARE = 1 << 21 };

/* EXHAUSTED when `filled` bytes took memory of this machine and the next piece might take the last of it. */
static gyre_status check_left(const struct gyre_memory_left *before, const struct gyre_memory_left *now,
                              uint64_t filled, uint64_t size)
{
    const bool taken = before->bytes > now->bytes && before->bytes - now->bytes >= filled / 2;
    if (filled == 0 || !taken || now->bytes >= SPARE + PIECE_LEAST || size - filled <= PIECE_LEAST)
        return GYRE_OK;
    return gyre_memory_left_tell(before, "memory of a device that is memory of this machine", size, "memory",
                                 "use a smaller buffer or state");
}

static uint64_t piece_size(uint64_t left, uint64_t rest)
{
    const uint64_t quarter = left > SPARE ? (left - SPARE) / 4 : 0;
    const uint64_t most = quarter < PIECE_LEAST ? PIECE_LEAST : quarter > PIECE_MOST ? PIECE_MOST : quarter;
    return rest < most ? rest : most;
}

gyre_status gyre_memory_fill_zero(struct gyre_dispatch *dispatch, gyre_memory *memory, uint64_t size)
{
    struct gyre_memory_left before = {.bytes = UINT64_MAX}, now;
    gyre_status status = GYRE_OK;
    const bool looks = size > GYRE_MEMORY_SMALL;
    if (looks)
        gyre_memory_left_look(&before);
    now = before;
    for (uint64_t filled = 0, piece; status == GYRE_OK && filled < size; filled += piece) {
        piece = looks ? piece_size(now.bytes, size - filled) : size;
        gyre_transfer_desc fill = {.size = sizeof fill,
                                   .kind = GYRE_TRANSFER_FILL,
                                   .memory = memory,
                                   .offset = filled,
                                   .byte_count = piece};
        status = gyre_dispatch_transfer(dispatch, &fill);
        if (status != GYRE_OK || !looks || filled + piece == size)
            continue;
        gyre_memory_left_look(&now);
        status = check_left(&before, &now, filled + piece, size);
    }
    return status;
}

gyre_status gyre_memory_read(struct gyre_dispatch *dispatch, gyre_memory *memory, uint64_t offset,
                             void *bytes, uint64_t size)
{
    const gyre_transfer_desc desc = {.size = sizeof desc,
                                     .kind = GYRE_TRANSFER_DOWNLOAD,
                                     .memory = memory,
                                     .offset = offset,
                                     .byte_count = size,
                                     .target = bytes};
    return gyre_dispatch_transfer(dispatch, &desc);
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
    pthread_rwlock_init(&buffer->place, NULL);
    gyre_status status = gyre_dispatch_memory_alloc(buffer->dispatch, size, &buffer->memory);
    if (status == GYRE_OK)
        status = gyre_memory_fill_zero(buffer->dispatch, buffer->memory, size);
    if (status != GYRE_OK) {
        gyre_buffer_destroy(buffer);
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

void gyre_buffer_destroy(gyre_buffer *buffer)
{
    gyre_dispatch_memory_release(buffer->dispatch, buffer->memory);
    pthread_rwlock_destroy(&buffer->place);
    free(buffer);
}

/* Frees all buffers, except those that a handler may still touch because it never returned. No other thread
 * uses the runtime. */
void gyre_buffers_close(gyre_runtime *runtime)
{
    while (runtime->buffers) {
        gyre_buffer *buffer = runtime->buffers;
        runtime->buffers = buffer->next;
        if (!buffer->bound)
            gyre_buffer_destroy(buffer);
    }
}

uint64_t gyre_buffer_size(const gyre_buffer *buffer)
{
    return buffer ? buffer->size : 0;
}
