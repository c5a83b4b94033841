/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launched kernels of a device in a worker (proxy_resident.h). A kernel obeys the control region, which is memory of
 * the core. So only launching, waiting for the kernel's end and its log lines go through the worker's sockets. A
 * kernel ends with the worker that it was launched in.
 *
 * Lock: device->lock for the list of launched kernels. It is also held while a log line is handed on, so that no line
 * arrives after its kernel was released.
 */
#include "core/isolation/proxy_resident.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/isolation/proxy.h"
#include "core/isolation/proxy_calls.h"
#include "core/isolation/proxy_objects.h"

/* A worker may answer a wait this much later than the wait's deadline. */
#define WAIT_GRACE_NS UINT64_C(1000000000)

struct launch {
    gyre_resident *resident;
    const struct gyre_module *module;
    const gyre_resident_desc *desc;
    uint64_t id;
};

static void put_launch(struct gyre_parcel *parcel, void *argument)
{
    const struct launch *launch = argument;
    const gyre_resident_desc *desc = launch->desc;
    gyre_parcel_put_u64(parcel, launch->id);
    gyre_parcel_put_u64(parcel, launch->module->object.id);
    gyre_parcel_put_u64(parcel, desc->control_size);
    gyre_parcel_put_descriptor(parcel, desc->control_descriptor);
    gyre_parcel_put_text(parcel, desc->kernel_name);
    gyre_parcel_put_u64(parcel, desc->lanes);
    gyre_parcel_put_u64(parcel, desc->blocks);
    gyre_parcel_put_u64(parcel, desc->state ? desc->state->object.id : 0);
    gyre_parcel_put_u64(parcel, (uint64_t)desc->idle);
    gyre_parcel_put_u64(parcel, desc->spin_turns);
    gyre_parcel_put_u64(parcel, desc->binding_count);
    for (uint32_t i = 0; i < desc->binding_count; i++) {
        gyre_parcel_put_u64(parcel, desc->bindings[i].memory->object.id);
        gyre_parcel_put_u64(parcel, desc->bindings[i].offset);
        gyre_parcel_put_u64(parcel, desc->bindings[i].element_count);
    }
}

static gyre_status get_launch(struct gyre_parcel *parcel, void *argument)
{
    const struct launch *launch = argument;
    launch->resident->control_address = gyre_parcel_get_u64(parcel);
    return GYRE_OK;
}

static void list_resident(gyre_resident *resident)
{
    gyre_device *device = resident->device;
    pthread_mutex_lock(&device->lock);
    resident->id = ++device->next_id;
    resident->incarnation = device->incarnation;
    resident->next = device->residents;
    device->residents = resident;
    pthread_mutex_unlock(&device->lock);
}

static void unlist_resident(gyre_resident *resident)
{
    gyre_device *device = resident->device;
    pthread_mutex_lock(&device->lock);
    struct gyre_resident **link = &device->residents;
    while (*link != resident)
        link = &(*link)->next;
    *link = resident->next;
    pthread_mutex_unlock(&device->lock);
}

gyre_status proxy_launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out)
{
    gyre_device *device = module->object.device;
    *out = NULL;
    gyre_resident *resident = calloc(1, sizeof *resident);
    if (!resident)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to launch a kernel");
    resident->device = device;
    resident->kernel_log = desc->kernel_log;
    resident->kernel_log_context = desc->kernel_log_context;
    gyre_status status = proxy_enter(device, 0);
    if (status == GYRE_OK) {
        list_resident(resident); /* now: its first lines may come before the answer */
        struct launch launch = {.resident = resident, .module = module, .desc = desc, .id = resident->id};
        const struct proxy_call call = {.operation = GYRE_PARCEL_LAUNCH,
                                        .put = put_launch,
                                        .get = get_launch,
                                        .incarnation = resident->incarnation};
        status = proxy_call_once(device, &call, &launch);
        if (status != GYRE_OK)
            unlist_resident(resident);
        proxy_leave(device);
    }
    if (status != GYRE_OK) {
        free(resident);
        return status;
    }
    *out = resident;
    return GYRE_OK;
}

struct waiting {
    uint64_t id, deadline_ns;
};

static void put_waiting(struct gyre_parcel *parcel, void *argument)
{
    const struct waiting *waiting = argument;
    gyre_parcel_put_u64(parcel, waiting->id);
    gyre_parcel_put_u64(parcel, waiting->deadline_ns);
}

uint64_t gyre_proxy_incarnation(gyre_device *device)
{
    return proxy_incarnation(device);
}

bool gyre_proxy_is_current(const gyre_resident *resident)
{
    gyre_device *device = resident->device;
    pthread_mutex_lock(&device->lock);
    bool current = device->state == PROXY_UP && device->incarnation == resident->incarnation;
    pthread_mutex_unlock(&device->lock);
    return current;
}

uint64_t gyre_proxy_control_address(const gyre_resident *resident)
{
    return resident->control_address;
}

gyre_status proxy_wait(gyre_resident *resident, uint64_t deadline_ns)
{
    gyre_device *device = resident->device;
    struct waiting waiting = {resident->id, deadline_ns};
    const struct proxy_call call = {
        .operation = GYRE_PARCEL_WAIT,
        .put = put_waiting,
        .deadline_ns = deadline_ns < UINT64_MAX - WAIT_GRACE_NS ? deadline_ns + WAIT_GRACE_NS : UINT64_MAX,
        .incarnation = resident->incarnation};
    return proxy_call(device, &call, &waiting);
}

static void put_id(struct gyre_parcel *parcel, void *argument)
{
    gyre_parcel_put_u64(parcel, *(const uint64_t *)argument);
}

gyre_status proxy_notify(gyre_resident *resident)
{
    const struct proxy_call call = {
        .operation = GYRE_PARCEL_NOTIFY, .put = put_id, .incarnation = resident->incarnation};
    if (!resident->device->has_notify)
        return GYRE_OK;
    return proxy_call(resident->device, &call, &resident->id);
}

void proxy_release(gyre_resident *resident)
{
    if (!resident)
        return;
    gyre_device *device = resident->device;
    gyre_error_hold();
    bool up = gyre_proxy_is_current(resident) && proxy_enter(device, resident->incarnation) == GYRE_OK;
    gyre_error_let_go();
    if (up) {
        proxy_forget(device, resident->id);
        proxy_leave(device);
    }
    unlist_resident(resident);
    free(resident);
}

void proxy_hear_kernel(gyre_device *device, struct gyre_parcel *message)
{
    uint64_t id = gyre_parcel_get_u64(message);
    int64_t value = (int64_t)gyre_parcel_get_u64(message);
    const char *text = gyre_parcel_get_text(message);
    if (!gyre_parcel_whole(message) || !text)
        return;
    pthread_mutex_lock(&device->lock);
    for (const gyre_resident *resident = device->residents; resident; resident = resident->next)
        if (resident->id == id && resident->kernel_log)
            resident->kernel_log(resident->kernel_log_context, text, value);
    pthread_mutex_unlock(&device->lock);
}
