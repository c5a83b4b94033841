/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device in a worker process: opening and closing it, compiling, and bringing it back after a death.
 *
 * Lock: device->lock for the state. The keeper's thread replaces the worker; it does so only after every call
 * that was under way has ended, so it alone touches the objects meanwhile.
 */
#include "core/isolation/proxy_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/fault.h"

/* ---- opening ---- */

static void put_open(struct gyre_parcel *parcel, void *argument)
{
    const gyre_device *device = argument;
    gyre_parcel_put_text(parcel, device->backend);
    gyre_parcel_put_text(parcel, device->library);
    gyre_parcel_put_u64(parcel, device->ordinal);
    gyre_parcel_put_u64(parcel, device->found);
    gyre_parcel_put_u64(parcel, device->parameter_count);
    for (size_t i = 0; i < device->parameter_count; i++) {
        gyre_parcel_put_text(parcel, device->parameters[i].key);
        gyre_parcel_put_text(parcel, device->parameters[i].value);
        gyre_parcel_put_text(parcel, device->parameters[i].origin);
    }
}

static gyre_status get_open(struct gyre_parcel *parcel, void *argument)
{
    gyre_device *device = argument;
    gyre_parcel_get(parcel, &device->info, sizeof device->info);
    device->has_notify = gyre_parcel_get_u64(parcel) != 0;
    device->can_copy = gyre_parcel_get_u64(parcel) != 0;
    const char *build = gyre_parcel_get_text(parcel);
    snprintf(device->build, sizeof device->build, "%s", build ? build : "");
    return GYRE_OK;
}

static gyre_status open_device(gyre_device *device)
{
    const struct proxy_call call = {.operation = GYRE_PARCEL_OPEN, .put = put_open, .get = get_open};
    return proxy_call_once(device, &call, device);
}

/* A second worker sees the same device: what it says of it is read and left. */
static gyre_status get_open_again(struct gyre_parcel *parcel, void *argument)
{
    gyre_device_info info;
    (void)argument;
    gyre_parcel_get(parcel, &info, sizeof info);
    gyre_parcel_get_u64(parcel);
    gyre_parcel_get_u64(parcel);
    gyre_parcel_get_text(parcel);
    return GYRE_OK;
}

gyre_status proxy_open_again(gyre_device *device, struct proxy_connection *connection)
{
    const struct proxy_call call = {.operation = GYRE_PARCEL_OPEN, .put = put_open, .get = get_open_again};
    bool broken = false;
    return proxy_exchange(device, &call, connection, device, &broken);
}

static char *copy(const char *text)
{
    return strdup(text ? text : "");
}

static gyre_status copy_desc(gyre_device *device, const struct gyre_proxy_desc *desc)
{
    device->backend = copy(desc->backend);
    device->library = copy(desc->library);
    device->parameters = calloc(desc->parameter_count + 1, sizeof *device->parameters);
    bool complete = device->backend && device->library && device->parameters;
    for (size_t i = 0; complete && i < desc->parameter_count; i++) {
        const gyre_parameter *from = &desc->parameters[i];
        device->parameters[i] = (gyre_parameter){copy(from->key), copy(from->value), copy(from->origin)};
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

/* ---- what the worker says by itself ---- */

static void hear(void *context, struct gyre_parcel *message)
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

/* ---- death and return ---- */

static void await_calls(gyre_device *device)
{
    pthread_mutex_lock(&device->lock);
    device->state = PROXY_DOWN;
    while (device->calls)
        pthread_cond_wait(&device->changed, &device->lock);
    proxy_drop_connections(device);
    pthread_mutex_unlock(&device->lock);
}

static void set_state(gyre_device *device, enum proxy_state state)
{
    pthread_mutex_lock(&device->lock);
    device->state = state;
    if (state == PROXY_UP) {
        device->incarnation = device->keeper.incarnation;
        proxy_standby_may_follow(device);
    }
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
}

static void lose(void *context)
{
    gyre_device *device = context;
    await_calls(device);
    pthread_mutex_lock(&device->lock);
    bool (*lost)(void *) = device->lost;
    void *lost_context = device->lost_context;
    pthread_mutex_unlock(&device->lock);
    if (lost && lost(lost_context))
        return;
    gyre_keeper_end(&device->keeper);
    set_state(device, PROXY_GONE);
}

void gyre_proxy_bury(gyre_device *device)
{
    gyre_keeper_end(&device->keeper);
    await_calls(device);
}

gyre_status gyre_proxy_revive(gyre_device *device)
{
    gyre_proxy_bury(device);
    if (gyre_keeper_quits(&device->keeper))
        return gyre_error_set(GYRE_CLOSED, "the device is being closed");
    bool stood_by = proxy_standby_take(device);
    gyre_status status = stood_by ? GYRE_OK : gyre_keeper_start(&device->keeper);
    if (status == GYRE_OK && !stood_by)
        status = open_device(device);
    if (status == GYRE_OK && GYRE_FAULT_POINT(PROXY_REVIVE))
        status = gyre_error_set(GYRE_EXHAUSTED, "no memory for the objects of backend '%s'", device->backend);
    for (struct proxy_object *object = device->objects; status == GYRE_OK && object; object = object->next)
        if (!stood_by || !proxy_standby_has(device, object->id))
            status = object->make(object);
    if (stood_by)
        proxy_standby_settle(device);
    if (status == GYRE_OK)
        set_state(device, PROXY_UP);
    return status;
}

bool gyre_proxy_pause(gyre_device *device, uint64_t length_ns)
{
    return gyre_keeper_pause(&device->keeper, length_ns);
}

bool gyre_proxy_watch(gyre_device *device, uint64_t deadline_ns)
{
    return gyre_keeper_watch(&device->keeper, deadline_ns);
}

void gyre_proxy_guard(gyre_device *device, bool (*lost)(void *context), void *context)
{
    pthread_mutex_lock(&device->lock);
    device->lost = lost;
    device->lost_context = context;
    pthread_mutex_unlock(&device->lock);
}

void gyre_proxy_kill(gyre_device *device, const char *reason)
{
    gyre_keeper_kill(&device->keeper, 0, reason);
}

void gyre_proxy_reason(gyre_device *device, char *text, size_t size)
{
    gyre_keeper_reason(&device->keeper, text, size);
}

bool gyre_proxy_can_copy(const gyre_device *device)
{
    return device->can_copy;
}

uint64_t proxy_incarnation(gyre_device *device)
{
    pthread_mutex_lock(&device->lock);
    uint64_t incarnation = device->incarnation;
    pthread_mutex_unlock(&device->lock);
    return incarnation;
}

/* ---- the device's own operations ---- */

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
        .context = device, .lost = lose, .heard = hear, .spare = proxy_standby_hear};
    gyre_status status = copy_desc(device, desc);
    if (status == GYRE_OK)
        status = gyre_keeper_init(&device->keeper, &keeper);
    if (status != GYRE_OK) {
        free_device(device);
        return status;
    }
    const struct proxy_call call = {
        .operation = GYRE_PARCEL_OPEN, .put = put_open, .get = get_open, .incarnation = 1};
    status = proxy_call(device, &call, device);
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
