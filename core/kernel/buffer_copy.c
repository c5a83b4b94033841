/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies from one device buffer to another: by the device, or from device to device, if the backend can (core/device/peers.h), else
 * through the host. On a device in a worker process every copy goes through the host: after a worker's death the next worker gets the uploads again, and would
 * not get the copies of the dead worker's device.
 *
 * Takes no lock. Checks bounds here, once for all backends.
 */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/device/buffer.h"
#include "core/device/peers.h"

/* bytes of one step of a copy through the host */
#define PIECE (UINT64_C(1) << 20)

static gyre_status check_part(const gyre_buffer *buffer, uint64_t offset, uint64_t size, const char *which)
{
    if (offset <= buffer->size && size <= buffer->size - offset)
        return GYRE_OK;
    return gyre_error_set(GYRE_INVALID, "gyre_buffer_copy: %llu bytes from %llu on of a %s of %llu bytes",
                          (unsigned long long)size, (unsigned long long)offset, which,
                          (unsigned long long)buffer->size);
}

static gyre_status check(const gyre_buffer *target, uint64_t target_offset, const gyre_buffer *source,
                         uint64_t source_offset, uint64_t size)
{
    if (!target || !source)
        return gyre_error_set(GYRE_INVALID, "gyre_buffer_copy needs two buffers");
    if (target == source)
        return gyre_error_set(
            GYRE_INVALID, "gyre_buffer_copy: target and source are the same buffer; copy by way of another");
    if (target->runtime != source->runtime)
        return gyre_error_set(
            GYRE_INVALID, "gyre_buffer_copy: the buffers are of two runtimes; download and upload instead");
    gyre_status status = gyre_runtime_check_own(target->runtime, "gyre_buffer_copy");
    if (status == GYRE_OK)
        status = check_part(source, source_offset, size, "source");
    return status == GYRE_OK ? check_part(target, target_offset, size, "target") : status;
}

static gyre_status copy_through_host(gyre_buffer *target, uint64_t target_offset, const gyre_buffer *source,
                                     uint64_t source_offset, uint64_t size)
{
    gyre_status status = GYRE_OK;
    void *piece = malloc(size < PIECE ? size : PIECE);
    if (!piece)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to copy a buffer through the host");
    for (uint64_t at = 0; at < size && status == GYRE_OK; at += PIECE) {
        const uint64_t part = size - at < PIECE ? size - at : PIECE;
        status = gyre_buffer_download(source, source_offset + at, piece, part);
        if (status == GYRE_OK)
            status = gyre_buffer_upload(target, target_offset + at, piece, part);
    }
    free(piece);
    return status;
}

/* UNIMPLEMENTED when no device copies between these two. Both places are held. */
static gyre_status copy_by_devices(gyre_buffer *target, uint64_t target_offset, const gyre_buffer *source,
                                   uint64_t source_offset, uint64_t size)
{
    const gyre_copy_desc desc = {.size = sizeof desc,
                                 .source = source->memory,
                                 .target = target->memory,
                                 .source_offset = source_offset,
                                 .target_offset = target_offset,
                                 .byte_count = size};
    return gyre_peers_copy(target->runtime, source->dispatch, target->dispatch, &desc);
}

gyre_status gyre_buffer_copy(gyre_buffer *target, uint64_t target_offset, const gyre_buffer *source,
                             uint64_t source_offset, uint64_t size)
{
    gyre_status status = check(target, target_offset, source, source_offset, size);
    if (status != GYRE_OK || size == 0)
        return status;
    gyre_buffer *const places[] = {target, (gyre_buffer *)(uintptr_t)source};
    const size_t lower =
        (uintptr_t)target < (uintptr_t)source ? 0 : 1; /* in one order: a move waits for both (change.c) */
    pthread_rwlock_rdlock(&places[lower]->place);
    pthread_rwlock_rdlock(&places[1 - lower]->place);
    status = copy_by_devices(target, target_offset, source, source_offset, size);
    pthread_rwlock_unlock(&places[1 - lower]->place);
    pthread_rwlock_unlock(&places[lower]->place);
    return status == GYRE_UNIMPLEMENTED
               ? copy_through_host(target, target_offset, source, source_offset, size)
               : status;
}
