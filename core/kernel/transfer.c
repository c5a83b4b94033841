/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies bytes into a device buffer, and out of it. Checks bounds here, once for all backends.
 *
 * Locks: kernel->lock for a look at each kernel of the buffer's device, none during a transfer.
 */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/device/buffer.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/visit.h"

/* ---- kernels that are being revived with the buffer of a checkpoint ---- */

static bool is_bound_to(const gyre_buffer *buffer, const gyre_kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->memory.buffer_count; i++)
        if (__atomic_load_n(&kernel->memory.buffers[i], __ATOMIC_RELAXED) == buffer)
            return true;
    return false;
}

/* Waits until the kernel is not being revived any more. Returns its generation. Under the kernel's lock, given up meanwhile. */
static uint64_t await_brought_back(gyre_kernel *kernel)
{
    while (kernel->turn.starting)
        pthread_cond_wait(&kernel->changed, &kernel->lock);
    return kernel->generation;
}

/*
 * Waits until no kernel that has the buffer in its checkpoints is being revived. Returns a number that changes with each
 * revival. Call without locks.
 */
static uint64_t generation_of(const gyre_buffer *buffer)
{
    uint64_t generation = 0;
    size_t count = 0;
    if (!__atomic_load_n(&buffer->in_checkpoints, __ATOMIC_RELAXED))
        return 0;
    gyre_kernel **kernels = gyre_kernels_visit(buffer->runtime, buffer->dispatch, &count);
    for (size_t i = 0; kernels && i < count; i++) {
        gyre_kernel *kernel = kernels[i];
        pthread_mutex_lock(&kernel->lock);
        if (kernel->checkpoints && is_bound_to(buffer, kernel))
            generation += await_brought_back(kernel);
        pthread_mutex_unlock(&kernel->lock);
        gyre_kernel_leave(kernel);
    }
    free(kernels);
    return generation;
}

/* ---- transfers ---- */

static gyre_status transfer_in_place(const gyre_buffer *buffer, gyre_transfer_desc *desc)
{
    pthread_rwlock_t *place =
        (pthread_rwlock_t *)(uintptr_t)&buffer->place; /* the lock of a constant object */
    pthread_rwlock_rdlock(place);
    desc->memory = buffer->memory;
    const gyre_status status = gyre_dispatch_transfer(buffer->dispatch, desc);
    pthread_rwlock_unlock(place);
    return status;
}

static gyre_status transfer_bytes(const gyre_buffer *buffer, gyre_transfer_desc *desc, const char *call)
{
    if (!buffer)
        return gyre_error_set(GYRE_INVALID, "%s needs a buffer", call);
    if (desc->offset > buffer->size || desc->byte_count > buffer->size - desc->offset)
        return gyre_error_set(GYRE_INVALID, "%s: %llu bytes from %llu on of a buffer of %llu bytes", call,
                              (unsigned long long)desc->byte_count, (unsigned long long)desc->offset,
                              (unsigned long long)buffer->size);
    if (desc->byte_count == 0)
        return GYRE_OK;
    if (desc->kind != GYRE_TRANSFER_FILL && !desc->source && !desc->target)
        return gyre_error_set(GYRE_INVALID, "%s needs memory of the caller", call);
    gyre_status status = gyre_runtime_check_own(buffer->runtime, call);
    if (status != GYRE_OK)
        return status;
    desc->size = sizeof *desc;
    uint64_t generation = generation_of(buffer);
    status = transfer_in_place(buffer, desc);
    while (status == GYRE_OK && generation != generation_of(buffer)) {
        /* a kernel was revived meanwhile: the bytes may be of a half-restored buffer */
        generation = generation_of(buffer);
        status = transfer_in_place(buffer, desc);
    }
    return status;
}

gyre_status gyre_buffer_upload(gyre_buffer *buffer, uint64_t offset, const void *source, uint64_t size)
{
    gyre_transfer_desc desc = {
        .kind = GYRE_TRANSFER_UPLOAD, .offset = offset, .byte_count = size, .source = source};
    return transfer_bytes(buffer, &desc, "gyre_buffer_upload");
}

gyre_status gyre_buffer_download(const gyre_buffer *buffer, uint64_t offset, void *target, uint64_t size)
{
    gyre_transfer_desc desc = {
        .kind = GYRE_TRANSFER_DOWNLOAD, .offset = offset, .byte_count = size, .target = target};
    return transfer_bytes(buffer, &desc, "gyre_buffer_download");
}

gyre_status gyre_buffer_fill(gyre_buffer *buffer, uint64_t offset, uint8_t byte, uint64_t size)
{
    gyre_transfer_desc desc = {
        .kind = GYRE_TRANSFER_FILL, .offset = offset, .byte_count = size, .fill = byte};
    return transfer_bytes(buffer, &desc, "gyre_buffer_fill");
}
