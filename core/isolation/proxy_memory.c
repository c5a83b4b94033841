/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues and buffers of a device in a worker (proxy_memory.h). A queue's region is memory of the core: the worker
 * gets its descriptor. A buffer has a mirror in shared memory. Transfers go through the mirror, and a new worker's
 * buffer is filled from it.
 *
 * Lock: each buffer has a lock, held around one attempt of a transfer through its mirror. A thread enters before it
 * takes the lock, and never waits for the next worker with it: the keeper's thread may need the same mirror to bring
 * that worker back. And no other worker is filled from the mirror until the thread that writes it has left.
 */
#include "core/isolation/proxy_memory.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/isolation/proxy.h"
#include "core/isolation/proxy_calls.h"
#include "core/isolation/proxy_objects.h"
#include "gyre/waiting.h"

/* The time that a byte of a transfer may take beyond the timeout of a call: 50 MB/s. */
#define TRANSFER_BYTE_NS 20

/* ---- queues ---- */

static void put_queue(struct gyre_parcel *parcel, void *argument)
{
    const struct gyre_queue_memory *queue = argument;
    gyre_parcel_put_u64(parcel, queue->object.id);
    gyre_parcel_put_u64(parcel, queue->region_size);
    gyre_parcel_put_descriptor(parcel, queue->descriptor);
}

static gyre_status get_queue(struct gyre_parcel *parcel, void *argument)
{
    struct gyre_queue_memory *queue = argument;
    __atomic_store_n(&queue->device_address, gyre_parcel_get_u64(parcel), __ATOMIC_RELAXED);
    return GYRE_OK;
}

static gyre_status make_queue(struct proxy_object *object)
{
    const struct proxy_call call = {.operation = GYRE_PARCEL_QUEUE_ALLOC, .put = put_queue, .get = get_queue};
    return proxy_call_once(object->device, &call, object);
}

gyre_status proxy_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc,
                              gyre_queue_memory **out, uint64_t *device_address)
{
    *out = NULL;
    gyre_queue_memory *queue = calloc(1, sizeof *queue);
    if (!queue)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a queue");
    queue->descriptor = desc->descriptor;
    queue->region_size = desc->region_size;
    gyre_status status = proxy_object_make(device, &queue->object, make_queue);
    if (status != GYRE_OK) {
        free(queue);
        return status;
    }
    *device_address = queue->device_address;
    *out = queue;
    return GYRE_OK;
}

void proxy_queue_release(gyre_queue_memory *memory)
{
    if (!memory)
        return;
    proxy_object_release(&memory->object);
    free(memory);
}

uint64_t gyre_proxy_queue_address(const gyre_queue_memory *memory)
{
    return __atomic_load_n(&memory->device_address, __ATOMIC_RELAXED);
}

/* ---- buffers ---- */

struct transfer {
    uint64_t id, kind, offset, byte_count;
    uint8_t fill;
};

static void put_transfer(struct gyre_parcel *parcel, void *argument)
{
    const struct transfer *transfer = argument;
    gyre_parcel_put_u64(parcel, transfer->id);
    gyre_parcel_put_u64(parcel, transfer->kind);
    gyre_parcel_put_u64(parcel, transfer->offset);
    gyre_parcel_put_u64(parcel, transfer->byte_count);
    gyre_parcel_put_u64(parcel, transfer->fill);
}

static struct proxy_call transfer_call(const gyre_device *device, const struct transfer *transfer)
{
    uint64_t limit = device->call_timeout_ns + transfer->byte_count * TRANSFER_BYTE_NS;
    return (struct proxy_call){.operation = GYRE_PARCEL_TRANSFER, .put = put_transfer, .limit_ns = limit};
}

static void put_memory(struct gyre_parcel *parcel, void *argument)
{
    const struct gyre_memory *memory = argument;
    gyre_parcel_put_u64(parcel, memory->object.id);
    gyre_parcel_put_u64(parcel, memory->size);
    gyre_parcel_put_descriptor(parcel, memory->mirror.descriptor);
}

static gyre_status get_memory(struct gyre_parcel *parcel, void *argument)
{
    struct gyre_memory *memory = argument;
    bool has_address = gyre_parcel_get_u64(parcel) != 0;
    __atomic_store_n(&memory->has_address, has_address, __ATOMIC_RELAXED);
    __atomic_store_n(&memory->device_address, gyre_parcel_get_u64(parcel), __ATOMIC_RELAXED);
    return GYRE_OK;
}

static gyre_status make_memory(struct proxy_object *object)
{
    struct gyre_memory *memory = (struct gyre_memory *)(void *)object;
    const struct proxy_call call = {
        .operation = GYRE_PARCEL_MEMORY_ALLOC, .put = put_memory, .get = get_memory};
    struct transfer restore = {.id = object->id, .kind = GYRE_TRANSFER_UPLOAD, .byte_count = memory->size};
    gyre_status status = proxy_call_once(object->device, &call, memory);
    if (status != GYRE_OK || !memory->given)
        return status;
    const struct proxy_call upload = transfer_call(object->device, &restore);
    return proxy_call_once(object->device, &upload, &restore);
}

gyre_status proxy_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out)
{
    *out = NULL;
    gyre_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a buffer");
    memory->size = byte_count;
    pthread_mutex_init(&memory->mirror_lock, NULL);
    gyre_status status = gyre_region_create("the mirror of a buffer", byte_count, &memory->mirror);
    if (status == GYRE_OK)
        status = proxy_object_make(device, &memory->object, make_memory);
    if (status != GYRE_OK) {
        if (memory->mirror.address)
            gyre_region_destroy(&memory->mirror);
        pthread_mutex_destroy(&memory->mirror_lock);
        free(memory);
        return status;
    }
    *out = memory;
    return GYRE_OK;
}

void proxy_memory_release(gyre_memory *memory)
{
    if (!memory)
        return;
    proxy_object_release(&memory->object);
    gyre_region_destroy(&memory->mirror);
    pthread_mutex_destroy(&memory->mirror_lock);
    free(memory);
}

gyre_status proxy_memory_address(gyre_memory *memory, uint64_t *address)
{
    *address = __atomic_load_n(&memory->device_address, __ATOMIC_RELAXED);
    if (__atomic_load_n(&memory->has_address, __ATOMIC_RELAXED))
        return GYRE_OK;
    return gyre_error_set(GYRE_UNIMPLEMENTED,
                          "backend '%s' tells no addresses of buffers, so messages cannot name them",
                          memory->object.device->backend);
}

/* One attempt, of a thread that has entered. */
static gyre_status transfer_once(gyre_device *device, const gyre_transfer_desc *desc, uint64_t incarnation)
{
    struct gyre_memory *memory = desc->memory;
    unsigned char *mirror = (unsigned char *)memory->mirror.address + desc->offset;
    struct transfer transfer = {.id = memory->object.id,
                                .kind = (uint64_t)desc->kind,
                                .offset = desc->offset,
                                .byte_count = desc->byte_count,
                                .fill = desc->fill};
    struct proxy_call call = transfer_call(device, &transfer);
    call.incarnation = incarnation;
    pthread_mutex_lock(&memory->mirror_lock);
    memory->given = memory->given || desc->kind != GYRE_TRANSFER_DOWNLOAD;
    if (desc->kind == GYRE_TRANSFER_UPLOAD)
        memcpy(mirror, desc->source, desc->byte_count);
    if (desc->kind == GYRE_TRANSFER_FILL)
        memset(mirror, desc->fill, desc->byte_count);
    gyre_status status = proxy_call_once(device, &call, &transfer);
    if (status == GYRE_OK && desc->kind == GYRE_TRANSFER_DOWNLOAD)
        memcpy(desc->target, mirror, desc->byte_count);
    pthread_mutex_unlock(&memory->mirror_lock);
    return status;
}

gyre_status proxy_transfer(gyre_device *device, const gyre_transfer_desc *desc)
{
    gyre_status status = GYRE_LOST;
    uint64_t begun = gyre_clock_ns();
    for (int tries = 0; status == GYRE_LOST && proxy_may_try(device, tries, begun); tries++) {
        status = proxy_enter(device, 0);
        if (status != GYRE_OK)
            return status;
        status = transfer_once(device, desc, 0);
        proxy_leave(device);
    }
    return status;
}

gyre_status gyre_proxy_transfer_in(gyre_device *device, const gyre_transfer_desc *desc, uint64_t incarnation)
{
    gyre_status status = proxy_enter(device, incarnation);
    if (status != GYRE_OK)
        return status;
    status = transfer_once(device, desc, incarnation);
    proxy_leave(device);
    return status;
}

/* ---- copies ---- */

static void put_copy(struct gyre_parcel *parcel, void *argument)
{
    const gyre_copy_desc *desc = argument;
    gyre_parcel_put_u64(parcel, desc->source->object.id);
    gyre_parcel_put_u64(parcel, desc->target->object.id);
    gyre_parcel_put_u64(parcel, desc->source_offset);
    gyre_parcel_put_u64(parcel, desc->target_offset);
    gyre_parcel_put_u64(parcel, desc->byte_count);
}

/* A new worker does not get the copied bytes: mirrors hold only the bytes that came from the program. */
gyre_status proxy_memory_copy(gyre_device *device, const gyre_copy_desc *desc)
{
    gyre_copy_desc argument = *desc;
    const struct proxy_call call = {.operation = GYRE_PARCEL_MEMORY_COPY,
                                    .put = put_copy,
                                    .limit_ns =
                                        device->call_timeout_ns + desc->byte_count * TRANSFER_BYTE_NS};
    return proxy_call(device, &call, &argument);
}
