/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wraps another plugin (parameter `checks`) and checks the contract lines of backend.h, on both sides of the
 * table: the core   serialises what is not "threads: any"; releases every object once, before its device;
 * waits for a kernel before it releases it; calls nothing with an object of another kind or device, or with
 * one that was released the plugin leaves *out NULL and a sentence after a failure; sets *out after a success
 * A violation is a line of level ERROR to the host's log, beginning with "contract:", and nothing else, so
 * any test can run with it. The handles that the core sees are this plugin's own.
 */
#include "wrapped.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum kind { KIND_MODULE, KIND_QUEUE, KIND_MEMORY, KIND_RESIDENT, KINDS };

static const char *const kind_words[KINDS] = {"module", "queue memory", "memory", "resident"};

struct object;

struct gyre_device {
    const gyre_host *host;
    const gyre_backend_ops *ops;
    gyre_device *inner;
    atomic_int inside; /* operations that must be alone, running now */
    atomic_int live[KINDS];
    _Atomic(struct object *) objects; /* all of them, also those that were released */
};

/* Every handle but the device's. It is kept after its release, marked, so that later uses are seen. */
struct object {
    struct object *next;
    gyre_device *device;
    enum kind kind;
    atomic_int is_released, has_left;
    void *inner;
};

__attribute__((format(printf, 2, 3))) static void violate(const gyre_device *device, const char *format, ...)
{
    char line[256] = "contract: ";
    size_t used = strlen(line);
    va_list args;
    va_start(args, format);
    vsnprintf(line + used, sizeof line - used, format, args);
    va_end(args);
    device->host->log(device->host->context, GYRE_LOG_ERROR, line);
}

static void enter(gyre_device *device, const char *operation)
{
    if (atomic_fetch_add(&device->inside, 1) != 0)
        violate(device, "%s runs beside another operation of its device", operation);
}

static void leave(gyre_device *device)
{
    atomic_fetch_sub(&device->inside, 1);
}

static void *unwrap(void *handle, enum kind kind, const char *operation)
{
    struct object *object = handle;
    if (object->kind != kind)
        violate(object->device, "%s got a %s, expected a %s", operation, kind_words[object->kind],
                kind_words[kind]);
    if (atomic_load(&object->is_released))
        violate(object->device, "%s got a %s that was released", operation, kind_words[kind]);
    return object->inner;
}

/* Checks what an operation that makes something left, and wraps it. */
static gyre_status wrap(gyre_device *device, gyre_status status, void *inner, enum kind kind,
                        const char *operation, void **out)
{
    *out = NULL;
    if (status != GYRE_OK) {
        if (inner)
            violate(device, "%s failed and left *out set", operation);
        return status;
    }
    if (!inner) {
        violate(device, "%s succeeded and left *out NULL", operation);
        return GYRE_OK;
    }
    struct object *object = calloc(1, sizeof *object);
    if (!object)
        abort(); /* a test machine without memory proves nothing */
    object->device = device;
    object->kind = kind;
    object->inner = inner;
    object->next = atomic_load(&device->objects);
    while (!atomic_compare_exchange_weak(&device->objects, &object->next, object))
        ;
    atomic_fetch_add(&device->live[kind], 1);
    *out = object;
    return GYRE_OK;
}

static void retire(void *handle, enum kind kind, const char *operation)
{
    struct object *object = handle;
    if (atomic_exchange(&object->is_released, 1))
        violate(object->device, "%s released a %s twice", operation, kind_words[kind]);
    else
        atomic_fetch_sub(&object->device->live[kind], 1);
}

/* ---- the operations ---- */

static gyre_status checking_probe(const gyre_probe_desc *desc, gyre_probe_info *info)
{
    const gyre_backend_ops *ops = wrapped_open(desc->host, desc->parameters, desc->parameter_count, "checks");
    const char *path = wrapped_parameter(desc->parameters, desc->parameter_count, "checks");
    gyre_status status = ops ? ops->probe(desc, info) : GYRE_UNAVAILABLE;
    if (path && !info->watch[0]) /* the verdict is that of the other plugin's file */
        snprintf(info->watch, sizeof info->watch, "%s", path);
    return status;
}

static gyre_status checking_device_open(const gyre_device_desc *desc, gyre_device **out)
{
    gyre_device *device = calloc(1, sizeof *device);
    *out = NULL;
    if (!device)
        return desc->host->error(GYRE_EXHAUSTED, "no memory for a checking device");
    device->host = desc->host;
    device->ops = wrapped_open(desc->host, desc->parameters, desc->parameter_count, "checks");
    gyre_status status = device->ops ? device->ops->device_open(desc, &device->inner) : GYRE_UNAVAILABLE;
    if (status != GYRE_OK) {
        if (device->inner)
            violate(device, "device_open failed and left *out set");
        free(device);
        return status;
    }
    desc->host->log(desc->host->context, GYRE_LOG_DEBUG, "checking: a device is open");
    *out = device;
    return GYRE_OK;
}

static void checking_device_close(gyre_device *device)
{
    enter(device, "device_close");
    for (int kind = 0; kind < KINDS; kind++)
        if (atomic_load(&device->live[kind]) != 0)
            violate(device, "device_close with %d objects not released: %s", atomic_load(&device->live[kind]),
                    kind_words[kind]);
    device->ops->device_close(device->inner);
    struct object *object = atomic_load(&device->objects);
    while (object) {
        struct object *next = object->next;
        free(object);
        object = next;
    }
    free(device);
}

/* A caller that knows less than this plugin, or more. */
static void check_info_of_size(const gyre_device *device, size_t size)
{
    enum { MORE = 64, UNTOUCHED = 0x5a };
    union {
        gyre_device_info info;
        unsigned char bytes[sizeof(gyre_device_info) + MORE];
    } room;
    memset(&room, 0, size);
    memset(room.bytes + size, UNTOUCHED, sizeof room - size);
    room.info.size = size;
    const bool told = device->ops->device_info(device->inner, &room.info) == GYRE_OK;
    if (told && room.info.size != size)
        violate(device, "device_info made a size of %zu one of %zu", size, room.info.size);
    for (size_t i = size; i < sizeof room; i++)
        if (room.bytes[i] != UNTOUCHED) {
            violate(device, "device_info wrote behind an info of %zu bytes", size);
            return;
        }
}

static gyre_status checking_device_info(gyre_device *device, gyre_device_info *info)
{
    check_info_of_size(device, offsetof(gyre_device_info, can_skip));
    check_info_of_size(device, sizeof(gyre_device_info) + 8);
    return device->ops->device_info(device->inner, info);
}

static gyre_status checking_compile(gyre_device *device, const gyre_compile_desc *desc)
{
    return device->ops->compile(device->inner, desc);
}

static gyre_status checking_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out)
{
    gyre_module *inner = NULL;
    void *made;
    enter(device, "module_load");
    gyre_status status = device->ops->module_load(device->inner, desc, &inner);
    leave(device);
    status = wrap(device, status, inner, KIND_MODULE, "module_load", &made);
    *out = made;
    return status;
}

static gyre_status checking_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record)
{
    gyre_device *device = ((struct object *)module)->device;
    return device->ops->module_kernel(unwrap(module, KIND_MODULE, "module_kernel"), index, record);
}

static void checking_module_release(gyre_module *module)
{
    if (!module)
        return;
    gyre_device *device = ((struct object *)module)->device;
    enter(device, "module_release");
    device->ops->module_release(unwrap(module, KIND_MODULE, "module_release"));
    retire(module, KIND_MODULE, "module_release");
    leave(device);
}

static gyre_status checking_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc,
                                        gyre_queue_memory **out, uint64_t *device_address)
{
    gyre_queue_memory *inner = NULL;
    void *made;
    enter(device, "queue_alloc");
    gyre_status status = device->ops->queue_alloc(device->inner, desc, &inner, device_address);
    leave(device);
    status = wrap(device, status, inner, KIND_QUEUE, "queue_alloc", &made);
    *out = made;
    return status;
}

static void checking_queue_release(gyre_queue_memory *memory)
{
    if (!memory)
        return;
    gyre_device *device = ((struct object *)memory)->device;
    enter(device, "queue_release");
    device->ops->queue_release(unwrap(memory, KIND_QUEUE, "queue_release"));
    retire(memory, KIND_QUEUE, "queue_release");
    leave(device);
}

static gyre_status checking_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out)
{
    gyre_memory *inner = NULL;
    void *made;
    enter(device, "memory_alloc");
    gyre_status status = device->ops->memory_alloc(device->inner, byte_count, &inner);
    leave(device);
    status = wrap(device, status, inner, KIND_MEMORY, "memory_alloc", &made);
    *out = made;
    return status;
}

static void checking_memory_release(gyre_memory *memory)
{
    if (!memory)
        return;
    gyre_device *device = ((struct object *)memory)->device;
    enter(device, "memory_release");
    device->ops->memory_release(unwrap(memory, KIND_MEMORY, "memory_release"));
    retire(memory, KIND_MEMORY, "memory_release");
    leave(device);
}

static gyre_status checking_transfer(gyre_device *device, const gyre_transfer_desc *desc)
{
    gyre_transfer_desc inner = *desc;
    inner.memory = unwrap(desc->memory, KIND_MEMORY, "transfer");
    enter(device, "transfer");
    gyre_status status = device->ops->transfer(device->inner, &inner);
    leave(device);
    return status;
}

static gyre_status checking_launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out)
{
    gyre_device *device = ((struct object *)module)->device;
    gyre_resident_desc inner_desc = *desc;
    gyre_resident *inner = NULL;
    void *made;
    gyre_binding_desc *bindings = calloc(desc->binding_count + 1u, sizeof *bindings);
    if (!bindings)
        abort(); /* as in wrap */
    for (uint32_t i = 0; i < desc->binding_count; i++) {
        bindings[i] = desc->bindings[i];
        bindings[i].memory = unwrap(desc->bindings[i].memory, KIND_MEMORY, "launch");
    }
    inner_desc.bindings = bindings;
    inner_desc.state = desc->state ? unwrap(desc->state, KIND_MEMORY, "launch") : NULL;
    enter(device, "launch");
    gyre_status status = device->ops->launch(unwrap(module, KIND_MODULE, "launch"), &inner_desc, &inner);
    leave(device);
    free(bindings);
    status = wrap(device, status, inner, KIND_RESIDENT, "launch", &made);
    *out = made;
    return status;
}

static gyre_status checking_wait(gyre_resident *resident, uint64_t deadline_ns)
{
    struct object *object = (struct object *)resident;
    gyre_status status = object->device->ops->wait(unwrap(resident, KIND_RESIDENT, "wait"), deadline_ns);
    if (status == GYRE_OK || status == GYRE_LOST)
        atomic_store(&object->has_left, 1);
    return status;
}

static gyre_status checking_notify(gyre_resident *resident)
{
    gyre_device *device = ((struct object *)resident)->device;
    void *inner = unwrap(resident, KIND_RESIDENT, "notify");
    return device->ops->notify ? device->ops->notify(inner) : GYRE_OK;
}

static void checking_release(gyre_resident *resident)
{
    if (!resident)
        return;
    struct object *object = (struct object *)resident;
    gyre_device *device = object->device;
    enter(device, "release");
    if (!atomic_load(&object->has_left))
        violate(device, "release of a kernel before wait said OK or LOST");
    device->ops->release(unwrap(resident, KIND_RESIDENT, "release"));
    retire(resident, KIND_RESIDENT, "release");
    leave(device);
}

static gyre_status checking_memory_address(gyre_memory *memory, uint64_t *address)
{
    gyre_device *device = ((struct object *)memory)->device;
    void *inner = unwrap(memory, KIND_MEMORY, "memory_address");
    return device->ops->memory_address(inner, address);
}

static gyre_status checking_memory_copy(gyre_device *device, const gyre_copy_desc *desc)
{
    gyre_copy_desc inner = *desc;
    inner.source = unwrap(desc->source, KIND_MEMORY, "memory_copy");
    inner.target = unwrap(desc->target, KIND_MEMORY, "memory_copy");
    if (desc->source == desc->target)
        violate(device, "memory_copy from a buffer to itself");
    if (!device->ops->memory_copy)
        return device->host->error(GYRE_UNIMPLEMENTED, "the plugin that is checked copies nothing");
    enter(device, "memory_copy");
    gyre_status status = device->ops->memory_copy(device->inner, &inner);
    leave(device);
    return status;
}

static const gyre_backend_ops checking_ops = {
    .size = sizeof(gyre_backend_ops),
    .probe = checking_probe,
    .device_open = checking_device_open,
    .device_close = checking_device_close,
    .device_info = checking_device_info,
    .compile = checking_compile,
    .module_load = checking_module_load,
    .module_kernel = checking_module_kernel,
    .module_release = checking_module_release,
    .queue_alloc = checking_queue_alloc,
    .queue_release = checking_queue_release,
    .memory_alloc = checking_memory_alloc,
    .memory_release = checking_memory_release,
    .transfer = checking_transfer,
    .launch = checking_launch,
    .wait = checking_wait,
    .notify = checking_notify,
    .release = checking_release,
    .memory_address = checking_memory_address,
    .memory_copy = checking_memory_copy,
};

WRAPPER_PLUGIN("checking", checking_ops);
