/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's operations (operations.h): each reads its arguments from the message, calls core/dispatch, and writes
 * the answer into the message. Launching is in launches.c. Takes no lock: core/dispatch serialises the calls that the
 * plugin does not allow from any thread.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/isolation/worker.h"
#include "core/parcel/records.h"
#include "core/worker/arguments.h"
#include "core/worker/device.h"
#include "core/worker/objects.h"
#include "core/worker/operations.h"

enum { DIRECTORIES_MAX = 64, MESSAGES_MAX = 64 * 1024 };

/* Makes a worker that stood by the worker: from now on the list of processes shows it under the name of a worker. */
gyre_status worker_promote(struct gyre_parcel *parcel)
{
    static const char name[] = GYRE_WORKER_PROGRAM;
    int file = gyre_parcel_whole(parcel) ? open("/proc/self/comm", O_WRONLY | O_CLOEXEC) : -1;
    bool renamed = file >= 0 && write(file, name, sizeof name - 1) > 0;
    if (file >= 0)
        close(file);
    gyre_parcel_begin(parcel, GYRE_PARCEL_PROMOTE, GYRE_OK);
    return renamed ? GYRE_OK : gyre_error_set(GYRE_FAILED, "a worker cannot be renamed");
}

static void answer_compile(struct gyre_parcel *parcel, gyre_status status, const char *messages)
{
    gyre_parcel_begin(parcel, GYRE_PARCEL_COMPILE, status);
    if (status != GYRE_OK)
        gyre_parcel_put_text(parcel, gyre_error_cause());
    gyre_parcel_put_text(parcel, messages);
}

gyre_status worker_compile(struct gyre_parcel *parcel)
{
    const char *directories[DIRECTORIES_MAX + 1] = {NULL};
    gyre_compile_desc desc = {.size = sizeof desc, .include_directories = directories};
    desc.unit_path = worker_text(parcel);
    desc.options = worker_text(parcel);
    desc.architecture = gyre_parcel_get_text(parcel);
    desc.artifact_path = worker_text(parcel);
    desc.dependency_path = gyre_parcel_get_text(parcel);
    desc.deadline_ns = gyre_parcel_get_u64(parcel);
    desc.messages_size = gyre_parcel_get_u32(parcel, MESSAGES_MAX);
    uint32_t count = gyre_parcel_get_u32(parcel, DIRECTORIES_MAX);
    for (uint32_t i = 0; i < count; i++)
        directories[i] = worker_text(parcel);
    if (!gyre_parcel_whole(parcel))
        return worker_nonsense();
    desc.messages = calloc(1, desc.messages_size + 1);
    if (!desc.messages)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a compiler's messages");
    gyre_status status = gyre_dispatch_compile(worker_device(), &desc);
    answer_compile(parcel, status, desc.messages);
    free(desc.messages);
    return status;
}

/* ---- modules ---- */

/* Whether the file still holds these bytes. */
static bool file_is(const char *path, const void *bytes, uint64_t size)
{
    struct stat now;
    bool same = false;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0 && fstat(file, &now) == 0 && (uint64_t)now.st_size >= size && size > 0) {
        void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
        same = map != MAP_FAILED && memcmp(map, bytes, size) == 0;
        if (map != MAP_FAILED)
            munmap(map, size);
    }
    if (file >= 0)
        close(file);
    return same;
}

/*
 * Loads a module from its file if the file is unchanged, because debuggers know this file; else from the core's copy.
 */
static gyre_status load_module(const char *path, int copy, const void *bytes, uint64_t size,
                               gyre_module **out)
{
    char other[64];
    gyre_module_desc desc = {
        .size = sizeof desc, .artifact_path = path, .artifact = bytes, .artifact_size = size};
    snprintf(other, sizeof other, "/proc/self/fd/%d", copy);
    if (!file_is(path, bytes, size))
        desc.artifact_path = other;
    return gyre_dispatch_module_load(worker_device(), &desc, out);
}

gyre_status worker_module_load(struct gyre_parcel *parcel)
{
    struct worker_object object = {.kind = WORKER_MODULE};
    gyre_module *module = NULL;
    void *bytes = NULL;
    object.id = gyre_parcel_get_u64(parcel);
    const char *path = worker_text(parcel);
    uint64_t size = gyre_parcel_get_u64(parcel);
    int copy = gyre_parcel_take_descriptor(parcel);
    gyre_status status = gyre_parcel_whole(parcel) ? GYRE_OK : worker_nonsense();
    if (status == GYRE_OK)
        status = worker_map(dup(copy), size, &bytes);
    if (status == GYRE_OK)
        status = load_module(path, copy, bytes, size, &module);
    if (bytes)
        munmap(bytes, size);
    if (copy >= 0)
        close(copy);
    object.handle = module;
    if (status == GYRE_OK)
        status = worker_keep(&object);
    gyre_parcel_begin(parcel, GYRE_PARCEL_MODULE_LOAD, GYRE_OK);
    return status;
}

gyre_status worker_module_kernel(struct gyre_parcel *parcel)
{
    struct worker_object module;
    gyre_kernel_record record;
    uint64_t id = gyre_parcel_get_u64(parcel);
    uint32_t index = gyre_parcel_get_u32(parcel, UINT32_MAX);
    gyre_status status = gyre_parcel_whole(parcel) ? GYRE_OK : worker_nonsense();
    if (status == GYRE_OK)
        status = worker_find(id, WORKER_MODULE, &module);
    if (status == GYRE_OK)
        status = gyre_dispatch_module_kernel(worker_device(), module.handle, index, &record);
    if (status != GYRE_OK)
        return status;
    gyre_parcel_begin(parcel, GYRE_PARCEL_MODULE_KERNEL, GYRE_OK);
    gyre_record_put(parcel, &record);
    return GYRE_OK;
}

/* ---- memory ---- */

static gyre_status keep_or_unmap(const struct worker_object *object, gyre_status status)
{
    if (status == GYRE_OK)
        status = worker_keep(object);
    if (status != GYRE_OK && object->mapping)
        munmap(object->mapping, object->size);
    return status;
}

gyre_status worker_queue_alloc(struct gyre_parcel *parcel)
{
    struct worker_object object = {.kind = WORKER_QUEUE};
    gyre_queue_memory_desc desc = {.size = sizeof desc, .descriptor = -1};
    gyre_queue_memory *memory = NULL;
    uint64_t address = 0;
    object.id = gyre_parcel_get_u64(parcel);
    object.size = desc.region_size = gyre_parcel_get_u64(parcel);
    int descriptor = gyre_parcel_take_descriptor(parcel);
    if (!gyre_parcel_whole(parcel))
        return worker_nonsense();
    desc.descriptor = dup(descriptor); /* for the backend, during the call; worker_map closes the other one */
    gyre_status status = worker_map(descriptor, desc.region_size, &object.mapping);
    desc.address = object.mapping;
    if (status == GYRE_OK)
        status = gyre_dispatch_queue_alloc(worker_device(), &desc, &memory, &address);
    if (desc.descriptor >= 0)
        close(desc.descriptor);
    object.handle = memory;
    status = keep_or_unmap(&object, status);
    gyre_parcel_begin(parcel, GYRE_PARCEL_QUEUE_ALLOC, GYRE_OK);
    gyre_parcel_put_u64(parcel, address);
    return status;
}

gyre_status worker_memory_alloc(struct gyre_parcel *parcel)
{
    struct worker_object object = {.kind = WORKER_MEMORY};
    gyre_memory *memory = NULL;
    uint64_t address = 0;
    object.id = gyre_parcel_get_u64(parcel);
    object.size = gyre_parcel_get_u64(parcel);
    int descriptor = gyre_parcel_take_descriptor(parcel);
    if (!gyre_parcel_whole(parcel))
        return worker_nonsense();
    gyre_status status = worker_map(descriptor, object.size, &object.mapping);
    if (status == GYRE_OK)
        status = gyre_dispatch_memory_alloc(worker_device(), object.size, &memory);
    object.handle = memory;
    status = keep_or_unmap(&object, status);
    bool addressed =
        status == GYRE_OK && gyre_dispatch_memory_address(worker_device(), memory, &address) == GYRE_OK;
    gyre_parcel_begin(parcel, GYRE_PARCEL_MEMORY_ALLOC, GYRE_OK);
    gyre_parcel_put_u64(parcel, addressed);
    gyre_parcel_put_u64(parcel, address);
    return status;
}

static bool is_within(const struct worker_object *object, uint64_t offset, uint64_t byte_count)
{
    return offset <= object->size && byte_count <= object->size - offset;
}

gyre_status worker_transfer(struct gyre_parcel *parcel)
{
    struct worker_object object;
    gyre_transfer_desc desc = {.size = sizeof desc};
    uint64_t id = gyre_parcel_get_u64(parcel);
    desc.kind = (gyre_transfer_kind)gyre_parcel_get_u32(parcel, GYRE_TRANSFER_FILL);
    desc.offset = gyre_parcel_get_u64(parcel);
    desc.byte_count = gyre_parcel_get_u64(parcel);
    desc.fill = (uint8_t)gyre_parcel_get_u32(parcel, UINT8_MAX);
    if (!gyre_parcel_whole(parcel))
        return worker_nonsense();
    gyre_status status = worker_find(id, WORKER_MEMORY, &object);
    if (status != GYRE_OK)
        return status;
    if (!is_within(&object, desc.offset, desc.byte_count))
        return worker_nonsense();
    desc.memory = object.handle;
    desc.source = desc.target = (unsigned char *)object.mapping + desc.offset;
    status = gyre_dispatch_transfer(worker_device(), &desc);
    gyre_parcel_begin(parcel, GYRE_PARCEL_TRANSFER, GYRE_OK);
    return status;
}

gyre_status worker_memory_copy(struct gyre_parcel *parcel)
{
    struct worker_object source, target;
    gyre_copy_desc desc = {.size = sizeof desc};
    uint64_t source_id = gyre_parcel_get_u64(parcel);
    uint64_t target_id = gyre_parcel_get_u64(parcel);
    desc.source_offset = gyre_parcel_get_u64(parcel);
    desc.target_offset = gyre_parcel_get_u64(parcel);
    desc.byte_count = gyre_parcel_get_u64(parcel);
    gyre_status status = gyre_parcel_whole(parcel) && source_id != target_id ? GYRE_OK : worker_nonsense();
    if (status == GYRE_OK)
        status = worker_find(source_id, WORKER_MEMORY, &source);
    if (status == GYRE_OK)
        status = worker_find(target_id, WORKER_MEMORY, &target);
    if (status != GYRE_OK)
        return status;
    if (!is_within(&source, desc.source_offset, desc.byte_count) ||
        !is_within(&target, desc.target_offset, desc.byte_count))
        return worker_nonsense();
    desc.source = source.handle;
    desc.target = target.handle;
    status = gyre_dispatch_memory_copy(worker_device(), &desc);
    gyre_parcel_begin(parcel, GYRE_PARCEL_MEMORY_COPY, GYRE_OK);
    return status;
}
