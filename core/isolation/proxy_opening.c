/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the message GYRE_PARCEL_OPEN, which tells a worker the device to open, and reads the worker's answer
 * (proxy_opening.h). Has no state and takes no lock.
 */
#include "core/isolation/proxy_opening.h"

#include <stdio.h>

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

gyre_status proxy_open_first(gyre_device *device)
{
    const struct proxy_call call = {
        .operation = GYRE_PARCEL_OPEN, .put = put_open, .get = get_open, .incarnation = 1};
    return proxy_call(device, &call, device);
}

gyre_status proxy_open_revived(gyre_device *device)
{
    const struct proxy_call call = {.operation = GYRE_PARCEL_OPEN, .put = put_open, .get = get_open};
    return proxy_call_once(device, &call, device);
}

/* Reads the answer of a second worker and ignores the description: the second worker sees the same device. */
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

gyre_status proxy_open_beside(gyre_device *device, struct proxy_connection *connection)
{
    const struct proxy_call call = {.operation = GYRE_PARCEL_OPEN, .put = put_open, .get = get_open_again};
    bool broken = false;
    return proxy_exchange(device, &call, connection, device, &broken);
}
