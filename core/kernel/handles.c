/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives device buffers names (ids) that messages can hold. Every kernel has a table in its control region, where its device
 * finds a buffer by the id in a message.
 *
 * An id is never used twice, so a stale id finds no buffer. Another buffer gets an entry of the tables only after every handler
 * that may read the entry has returned. Locks: runtime->lock for names and tables. A thread gives it up while it waits until
 * kernels come to a message boundary (no handler runs); kernel->visitors keeps those kernels from being freed meanwhile.
 */
#include "core/kernel/handles.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/turn.h"
#include "core/kernel/visit.h"

/* ---- ids ---- */

static uint64_t serial;
static pthread_once_t serial_once = PTHREAD_ONCE_INIT;

/* Chooses the first id. Ids differ between processes, so that another process's handle in a message finds no buffer here. */
static void seed_serial(void)
{
    serial = ((gyre_clock_ns() * UINT64_C(0x9e3779b97f4a7c15)) ^ ((uint64_t)getpid() << 20)) >> 12;
}

static uint64_t make_id(uint32_t slot)
{
    pthread_once(&serial_once, seed_serial);
    return (__atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED) * GYRE_HANDLES_MAX) | slot;
}

static uint32_t slot_of(uint64_t id)
{
    return (uint32_t)(id % GYRE_HANDLES_MAX);
}

/* ---- tables, under runtime->lock ---- */

static void write_entry(const gyre_kernel *kernel, const gyre_buffer *buffer)
{
    gyre_control_handle *entry =
        &GYRE_CONTROL_HANDLES(kernel->control, kernel->blocks)[slot_of(buffer->handle)];
    __atomic_store_n(&entry->address, buffer->address, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->size, buffer->size, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->id, buffer->handle, __ATOMIC_RELEASE); /* pairs with the dialect's acquire */
}

static void clear_entry(const gyre_kernel *kernel, uint32_t slot)
{
    gyre_control_handle *table = GYRE_CONTROL_HANDLES(kernel->control, kernel->blocks);
    __atomic_store_n(&table[slot].id, 0, __ATOMIC_RELAXED); /* the command that follows publishes it */
}

void gyre_handles_refresh(gyre_kernel *kernel)
{
    gyre_runtime *runtime = kernel->runtime;
    pthread_mutex_lock(&runtime->lock);
    for (uint32_t slot = 0; slot < GYRE_HANDLES_MAX; slot++)
        clear_entry(kernel, slot);
    for (const gyre_buffer *buffer = runtime->buffers; buffer; buffer = buffer->next)
        if (buffer->handle && buffer->dispatch == kernel->dispatch)
            write_entry(kernel, buffer);
    pthread_mutex_unlock(&runtime->lock);
}

void gyre_handles_keep(const gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->runtime->lock);
    for (gyre_buffer *buffer = kernel->runtime->buffers; buffer; buffer = buffer->next)
        if (buffer->last_handle && buffer->dispatch == kernel->dispatch)
            buffer->bound++;
    pthread_mutex_unlock(&kernel->runtime->lock);
}

/* ---- naming ---- */

/* A free slot of the device's tables, or GYRE_HANDLES_MAX. */
static uint32_t free_slot(const gyre_runtime *runtime, const struct gyre_dispatch *dispatch)
{
    bool taken[GYRE_HANDLES_MAX] = {false};
    uint32_t slot = 0;
    for (const gyre_buffer *buffer = runtime->buffers; buffer; buffer = buffer->next)
        if (buffer->last_handle && buffer->dispatch == dispatch)
            taken[slot_of(buffer->last_handle)] = true;
    while (slot < GYRE_HANDLES_MAX && taken[slot])
        slot++;
    return slot;
}

/* Names a buffer. Asks for the buffer's address under the lock: after a restart of the worker process, gyre_handles_relocate
 * gives new addresses only to buffers that have a name. */
static gyre_status name_buffer(gyre_buffer *buffer)
{
    gyre_runtime *runtime = buffer->runtime;
    uint64_t address = 0;
    if (buffer->moving)
        return gyre_error_set(
            GYRE_AGAIN, "the buffer is moving to another device with its kernel, and gets its name there: "
                        "ask again when the kernel has moved");
    uint32_t slot = buffer->last_handle ? slot_of(buffer->last_handle) : free_slot(runtime, buffer->dispatch);
    if (slot == GYRE_HANDLES_MAX)
        return gyre_error_set(GYRE_EXHAUSTED,
                              "messages name %d buffers of this device already, which is the most; free some",
                              GYRE_HANDLES_MAX);
    gyre_status status = gyre_dispatch_memory_address(buffer->dispatch, buffer->memory, &address);
    if (status != GYRE_OK)
        return status;
    buffer->handle = buffer->last_handle = make_id(slot);
    buffer->address = address;
    for (const gyre_kernel *kernel = runtime->kernels; kernel; kernel = kernel->next)
        if (kernel->dispatch == buffer->dispatch)
            write_entry(kernel, buffer);
    return GYRE_OK;
}

gyre_status gyre_buffer_handle(gyre_buffer *buffer, uint64_t offset, uint64_t size, gyre_handle *out)
{
    if (!buffer || !out)
        return GYRE_ARGUMENTS("gyre_buffer_handle", {"buffer", buffer}, {"out", out});
    *out = (gyre_handle){.id = 0};
    if (offset >= buffer->size || size > buffer->size - offset)
        return gyre_error_set(
            GYRE_INVALID, "gyre_buffer_handle: %llu bytes from %llu on of a buffer of %llu bytes",
            (unsigned long long)size, (unsigned long long)offset, (unsigned long long)buffer->size);
    gyre_status status = gyre_runtime_check_own(buffer->runtime, "gyre_buffer_handle");
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&buffer->runtime->lock);
    if (!buffer->handle)
        status = name_buffer(buffer);
    if (status == GYRE_OK)
        *out = (gyre_handle){
            .id = buffer->handle, .offset = offset, .size = size ? size : buffer->size - offset};
    pthread_mutex_unlock(&buffer->runtime->lock);
    return status;
}

void gyre_handles_relocate(gyre_runtime *runtime, const struct gyre_dispatch *dispatch)
{
    pthread_mutex_lock(&runtime->lock);
    for (gyre_buffer *buffer = runtime->buffers; buffer; buffer = buffer->next)
        if (buffer->handle && buffer->dispatch == dispatch)
            gyre_dispatch_memory_address(buffer->dispatch, buffer->memory, &buffer->address);
    pthread_mutex_unlock(&runtime->lock);
}

/* ---- taking a name back ---- */

/* Takes the buffer's name out of the tables of all kernels on its device. Returns these kernels, visited (visit.h), so that
 * none is freed meanwhile. NULL without memory. */
static gyre_kernel **forget_name(gyre_buffer *buffer, size_t *count)
{
    pthread_mutex_lock(&buffer->runtime->lock);
    gyre_kernel **kernels = gyre_kernels_visit_locked(buffer->runtime, buffer->dispatch, count);
    for (size_t i = 0; buffer->handle && i < *count; i++)
        clear_entry(kernels[i], slot_of(buffer->handle));
    if (kernels)
        buffer->handle = 0;
    pthread_mutex_unlock(&buffer->runtime->lock);
    return kernels;
}

gyre_status gyre_handles_withdraw(gyre_buffer *buffer)
{
    gyre_status status = GYRE_OK;
    size_t count = 0;
    if (!buffer->last_handle) /* read without the lock: only the owner, who frees the buffer, names it */
        return GYRE_OK;
    gyre_kernel **kernels = forget_name(buffer, &count);
    if (!kernels)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to free a buffer that messages name");
    for (size_t i = 0; i < count; i++) {
        if (status == GYRE_OK)
            status = gyre_kernel_await_boundary(kernels[i]);
        gyre_kernel_leave(kernels[i]);
    }
    free(kernels);
    return status == GYRE_OK ? GYRE_OK
                             : gyre_error_add(status, "a handler may still use the buffer: free it later");
}
