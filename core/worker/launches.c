/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's operations on launched kernels (operations.h). Maps the control region from the core's descriptor, and
 * finds the other objects by their numbers. Takes no lock of its own.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/worker/arguments.h"
#include "core/worker/device.h"
#include "core/worker/log.h"
#include "core/worker/objects.h"
#include "core/worker/operations.h"

enum { BINDINGS_MAX = 256 };

static void kernel_log(void *context, const char *text, int64_t value)
{
    worker_log_kernel((uint64_t)(uintptr_t)context, text, value);
}

static gyre_status find_memory(uint64_t id, gyre_memory **out)
{
    struct worker_object object;
    *out = NULL;
    if (id == 0)
        return GYRE_OK;
    gyre_status status = worker_find(id, WORKER_MEMORY, &object);
    if (status == GYRE_OK)
        *out = object.handle;
    return status;
}

/* Reads the part of the message behind its first numbers. */
static gyre_status read_desc(struct gyre_parcel *parcel, gyre_resident_desc *desc,
                             gyre_binding_desc *bindings)
{
    desc->kernel_name = gyre_parcel_get_text(parcel);
    desc->lanes = gyre_parcel_get_u32(parcel, UINT32_MAX);
    desc->blocks = gyre_parcel_get_u32(parcel, UINT32_MAX);
    gyre_status status = find_memory(gyre_parcel_get_u64(parcel), &desc->state);
    desc->idle = (gyre_idle)gyre_parcel_get_u32(parcel, GYRE_IDLE_PARK);
    desc->spin_turns = gyre_parcel_get_u32(parcel, UINT32_MAX);
    desc->binding_count = gyre_parcel_get_u32(parcel, BINDINGS_MAX);
    desc->bindings = bindings;
    for (uint32_t i = 0; status == GYRE_OK && i < desc->binding_count; i++) {
        status = find_memory(gyre_parcel_get_u64(parcel), &bindings[i].memory);
        bindings[i].offset = gyre_parcel_get_u64(parcel);
        bindings[i].element_count = gyre_parcel_get_u64(parcel);
    }
    if (status != GYRE_OK)
        return status;
    bool sound = gyre_parcel_whole(parcel) && desc->kernel_name &&
                 GYRE_CONTROL_SIZE((uint64_t)desc->blocks) <= desc->control_size;
    return sound ? GYRE_OK : worker_nonsense();
}

gyre_status worker_launch(struct gyre_parcel *parcel)
{
    struct worker_object object = {.kind = WORKER_RESIDENT}, module;
    gyre_binding_desc bindings[BINDINGS_MAX];
    gyre_resident_desc desc = {.size = sizeof desc, .kernel_log = kernel_log};
    gyre_resident *resident = NULL;
    object.id = gyre_parcel_get_u64(parcel);
    uint64_t module_id = gyre_parcel_get_u64(parcel);
    object.size = desc.control_size = gyre_parcel_get_u64(parcel);
    int descriptor = gyre_parcel_take_descriptor(parcel);
    gyre_status status = read_desc(parcel, &desc, bindings);
    if (status == GYRE_OK)
        status = worker_find(module_id, WORKER_MODULE, &module);
    desc.control_descriptor = dup(descriptor);
    desc.kernel_log_context = (void *)(uintptr_t)object.id;
    if (status == GYRE_OK)
        status = worker_map(dup(descriptor), object.size, &object.mapping);
    desc.control = object.mapping;
    if (status == GYRE_OK)
        status = GYRE_FAULT_POINT(WORKER_LAUNCH)
                     ? gyre_error_set(GYRE_FAILED, "the device refuses kernel '%s'", desc.kernel_name)
                     : gyre_dispatch_launch(worker_device(), module.handle, &desc, &resident);
    object.handle = resident;
    if (status == GYRE_OK)
        status = worker_keep(&object);
    if (status != GYRE_OK && object.mapping)
        munmap(object.mapping, object.size);
    if (desc.control_descriptor >= 0)
        close(desc.control_descriptor);
    if (descriptor >= 0)
        close(descriptor);
    gyre_parcel_begin(parcel, GYRE_PARCEL_LAUNCH, GYRE_OK);
    gyre_parcel_put_u64(parcel, (uint64_t)(uintptr_t)object.mapping);
    return status;
}

gyre_status worker_wait(struct gyre_parcel *parcel)
{
    struct worker_object object;
    uint64_t id = gyre_parcel_get_u64(parcel);
    uint64_t deadline_ns = gyre_parcel_get_u64(parcel);
    gyre_status status = gyre_parcel_whole(parcel) ? GYRE_OK : worker_nonsense();
    if (status == GYRE_OK)
        status = worker_find(id, WORKER_RESIDENT, &object);
    if (status == GYRE_OK)
        status = gyre_dispatch_wait(worker_device(), object.handle, deadline_ns);
    gyre_parcel_begin(parcel, GYRE_PARCEL_WAIT, GYRE_OK);
    return status;
}

gyre_status worker_notify(struct gyre_parcel *parcel)
{
    struct worker_object object;
    uint64_t id = gyre_parcel_get_u64(parcel);
    gyre_status status = gyre_parcel_whole(parcel) ? GYRE_OK : worker_nonsense();
    if (status == GYRE_OK)
        status = worker_find(id, WORKER_RESIDENT, &object);
    if (status == GYRE_OK)
        status = gyre_dispatch_notify(worker_device(), object.handle);
    gyre_parcel_begin(parcel, GYRE_PARCEL_NOTIFY, GYRE_OK);
    return status;
}
