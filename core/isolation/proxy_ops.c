/* SPDX-License-Identifier: Apache-2.0 */
/* The ops table of a device in a worker process: opening and closing the device, compiling, and its log. */
#include "core/isolation/proxy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/isolation/keeper_thread.h"
#include "core/isolation/proxy_calls.h"
#include "core/isolation/proxy_memory.h"
#include "core/isolation/proxy_module.h"
#include "core/isolation/proxy_opening.h"
#include "core/isolation/proxy_resident.h"
#include "core/isolation/standby.h"
#include "core/isolation/standby_state.h"
#include "core/isolation/worker_return.h"

static char *copy_text(const char *text)
{
    return strdup(text ? text : "");
}

static gyre_status copy_desc(gyre_device *device, const struct gyre_proxy_desc *desc)
{
    device->backend = copy_text(desc->backend);
    device->library = copy_text(desc->library);
    device->parameters = calloc(desc->parameter_count + 1, sizeof *device->parameters);
    bool complete = device->backend && device->library && device->parameters;
    for (size_t i = 0; complete && i < desc->parameter_count; i++) {
        const gyre_parameter *from = &desc->parameters[i];
        device->parameters[i] =
            (gyre_parameter){copy_text(from->key), copy_text(from->value), copy_text(from->origin)};
        device->parameter_count = i + 1;
        complete = device->parameters[i].key && device->parameters[i].value && device->parameters[i].origin;
    }
    device->ordinal = desc->ordinal;
    device->found = desc->found;
    device->call_timeout_ns = desc->call_timeout_ns;
    device->log = desc->log;
    device->log_context = desc->log_context;
    return complete ? GYRE_OK
                    : gyre_error_set(GYRE_EXHAUSTED, "no memory to open backend '%s'", desc->backend);
}

static void free_device(gyre_device *device)
{
    for (size_t i = 0; i < device->parameter_count; i++) {
        free((void *)(uintptr_t)device->parameters[i].key);
        free((void *)(uintptr_t)device->parameters[i].value);
        free((void *)(uintptr_t)device->parameters[i].origin);
    }
    free(device->parameters);
    free(device->library);
    free(device->backend);
    pthread_cond_destroy(&device->changed);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

static void hear_worker(void *context, struct gyre_parcel *message)
{
    gyre_device *device = context;
    if (gyre_parcel_operation(message) == GYRE_PARCEL_KERNEL_LOG)
        proxy_hear_kernel(device, message);
    if (gyre_parcel_operation(message) != GYRE_PARCEL_LOG || !device->log)
        return;
    int level = (int)gyre_parcel_get_u32(message, GYRE_LOG_DEBUG);
    const char *text = gyre_parcel_get_text(message);
    if (gyre_parcel_whole(message) && text)
        device->log(device->log_context, level, text);
}

bool gyre_proxy_can_copy(const gyre_device *device)
{
    return device->can_copy;
}

gyre_status gyre_proxy_open(const struct gyre_proxy_desc *desc, char *build, size_t build_size,
                            gyre_device **out)
{
    *out = NULL;
    gyre_device *device = calloc(1, sizeof *device);
    if (!device)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to open backend '%s'", desc->backend);
    pthread_mutex_init(&device->lock, NULL);
    gyre_clock_condition(&device->changed);
    device->incarnation = 1;
    const struct gyre_keeper_desc keeper = {
        .context = device, .lost = proxy_lose, .heard = hear_worker, .spare = proxy_standby_hear};
    gyre_status status = copy_desc(device, desc);
    if (status == GYRE_OK)
        status = gyre_keeper_init(&device->keeper, &keeper);
    if (status != GYRE_OK) {
        free_device(device);
        return status;
    }
    status = proxy_open_first(device);
    if (status == GYRE_OK && desc->standby)
        status = proxy_standby_begin(device);
    if (status != GYRE_OK) {
        gyre_keeper_finish(&device->keeper);
        proxy_drop_connections(device);
        free_device(device);
        return status;
    }
    snprintf(build, build_size, "%s", device->build);
    *out = device;
    return GYRE_OK;
}

static void proxy_device_close(gyre_device *device)
{
    const struct proxy_call call = {.operation = GYRE_PARCEL_CLOSE, .incarnation = proxy_incarnation(device)};
    proxy_call(device, &call, NULL);
    proxy_standby_finish(device);
    gyre_keeper_finish(&device->keeper);
    proxy_standby_free(device);
    proxy_drop_connections(device);
    free_device(device);
}

static gyre_status proxy_device_info(gyre_device *device, gyre_device_info *info)
{
    gyre_device_info_give(info, &device->info);
    return GYRE_OK;
}

static void put_compile(struct gyre_parcel *parcel, void *argument)
{
    const gyre_compile_desc *desc = argument;
    uint64_t count = 0;
    while (desc->include_directories && desc->include_directories[count])
        count++;
    gyre_parcel_put_text(parcel, desc->unit_path);
    gyre_parcel_put_text(parcel, desc->options);
    gyre_parcel_put_text(parcel, desc->architecture);
    gyre_parcel_put_text(parcel, desc->artifact_path);
    gyre_parcel_put_text(parcel, desc->dependency_path);
    gyre_parcel_put_u64(parcel, desc->deadline_ns);
    gyre_parcel_put_u64(parcel, desc->messages ? desc->messages_size : 0);
    gyre_parcel_put_u64(parcel, count);
    for (uint64_t i = 0; i < count; i++)
        gyre_parcel_put_text(parcel, desc->include_directories[i]);
}

static gyre_status get_compile(struct gyre_parcel *parcel, void *argument)
{
    const gyre_compile_desc *desc = argument;
    const char *messages = gyre_parcel_get_text(parcel);
    if (desc->messages && desc->messages_size)
        snprintf(desc->messages, desc->messages_size, "%s", messages ? messages : "");
    return GYRE_OK;
}

static gyre_status proxy_compile(gyre_device *device, const gyre_compile_desc *desc)
{
    gyre_compile_desc argument = *desc;
    uint64_t grace_ns = device->call_timeout_ns;
    const struct proxy_call call = {
        .operation = GYRE_PARCEL_COMPILE,
        .put = put_compile,
        .get = get_compile,
        .limit_ns = device->call_timeout_ns,
        .deadline_ns = desc->deadline_ns < UINT64_MAX - grace_ns ? desc->deadline_ns + grace_ns : UINT64_MAX};
    return proxy_call(device, &call, &argument);
}

const gyre_backend_ops gyre_proxy_ops = {
    .size = sizeof(gyre_backend_ops),
    .device_close = proxy_device_close,
    .device_info = proxy_device_info,
    .compile = proxy_compile,
    .module_load = proxy_module_load,
    .module_kernel = proxy_module_kernel,
    .module_release = proxy_module_release,
    .queue_alloc = proxy_queue_alloc,
    .queue_release = proxy_queue_release,
    .memory_alloc = proxy_memory_alloc,
    .memory_release = proxy_memory_release,
    .transfer = proxy_transfer,
    .launch = proxy_launch,
    .wait = proxy_wait,
    .notify = proxy_notify,
    .release = proxy_release,
    .memory_address = proxy_memory_address,
    .memory_copy = proxy_memory_copy,
};
