/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes objects of a device in a worker and enters them into the device's list, or takes them out and releases them
 * (proxy_objects.h).
 *
 * Lock: device->lock for the list and the numbers, never held across a call.
 */
#include "core/isolation/proxy_objects.h"

#include "core/base/error.h"
#include "core/isolation/proxy_calls.h"
#include "gyre/waiting.h"

gyre_status proxy_object_make(gyre_device *device, struct proxy_object *object,
                              gyre_status (*make)(struct proxy_object *object))
{
    gyre_status status = GYRE_LOST;
    uint64_t begun = gyre_clock_ns();
    object->device = device;
    object->make = make;
    pthread_mutex_lock(&device->lock);
    object->id = ++device->next_id;
    pthread_mutex_unlock(&device->lock);
    for (int tries = 0; status == GYRE_LOST && proxy_may_try(device, tries, begun); tries++) {
        status = proxy_enter(device, 0);
        if (status != GYRE_OK)
            return status;
        status = make(object);
        if (status == GYRE_OK) {
            pthread_mutex_lock(&device->lock);
            object->next = device->objects;
            device->objects = object;
            pthread_mutex_unlock(&device->lock);
        }
        proxy_leave(device);
    }
    return status;
}

static void put_id(struct gyre_parcel *parcel, void *argument)
{
    gyre_parcel_put_u64(parcel, *(const uint64_t *)argument);
}

void proxy_forget(gyre_device *device, uint64_t id)
{
    const struct proxy_call call = {.operation = GYRE_PARCEL_RELEASE, .put = put_id};
    gyre_error_hold();
    proxy_call_once(device, &call, &id);
    gyre_error_let_go();
}

void proxy_object_release(struct proxy_object *object)
{
    gyre_device *device = object->device;
    gyre_error_hold();
    bool up = proxy_enter(device, 0) == GYRE_OK;
    gyre_error_let_go();
    pthread_mutex_lock(&device->lock);
    struct proxy_object **link = &device->objects;
    while (*link != object)
        link = &(*link)->next;
    *link = object->next;
    pthread_mutex_unlock(&device->lock);
    if (!up)
        return;
    proxy_forget(device, object->id);
    proxy_leave(device);
}
