/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles the death of a device's worker, and brings the device back in the next worker (worker_return.h).
 *
 * Lock: device->lock for the state. The keeper's thread replaces the worker, after every call that was under way has
 * ended. So only this thread touches the objects meanwhile.
 */
#include "core/isolation/worker_return.h"

#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/isolation/keeper_thread.h"
#include "core/isolation/proxy_calls.h"
#include "core/isolation/proxy_opening.h"
#include "core/isolation/standby.h"
#include "core/isolation/standby_state.h"

static void await_calls(gyre_device *device)
{
    pthread_mutex_lock(&device->lock);
    device->state = PROXY_DOWN;
    while (device->calls)
        pthread_cond_wait(&device->changed, &device->lock);
    proxy_drop_connections(device);
    pthread_mutex_unlock(&device->lock);
}

static void set_device_state(gyre_device *device, enum proxy_state state)
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

void proxy_lose(void *context)
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
    set_device_state(device, PROXY_GONE);
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
        status = proxy_open_revived(device);
    if (status == GYRE_OK && GYRE_FAULT_POINT(PROXY_REVIVE))
        status = gyre_error_set(GYRE_EXHAUSTED, "no memory for the objects of backend '%s'", device->backend);
    for (struct proxy_object *object = device->objects; status == GYRE_OK && object; object = object->next)
        if (!stood_by || !proxy_standby_has(device, object->id))
            status = object->make(object);
    if (stood_by)
        proxy_standby_settle(device);
    if (status == GYRE_OK)
        set_device_state(device, PROXY_UP);
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

bool gyre_proxy_stands_by(gyre_device *device)
{
    pthread_mutex_lock(&device->lock);
    bool ready = device->standby && device->standby->state == STANDBY_READY;
    pthread_mutex_unlock(&device->lock);
    return ready;
}
