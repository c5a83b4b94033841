/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes quiet moments, in which no kernel is on the device. Loading, unloading and unregistering block while
 * any kernel of the context is resident. So all kernels leave at a message boundary before such a call, and
 * come back after it (cuda_presence.c).
 *
 * Lock: residents->lock from cuda_quiet_begin to cuda_quiet_end.
 */
#include "backends/cuda/driver/cuda_context.h"
#include "backends/cuda/presence/cuda_order.h"
#include "backends/cuda/presence/cuda_presence.h"
#include "backends/cuda/presence/cuda_quiet.h"
#include "backends/cuda/driver/cuda_ranges.h"
#include "backends/cuda/cuda_resident.h"

#include "gyre/waiting.h"

/* a handler that runs for longer than this, when its kernel is to leave, keeps everybody waiting */
#define LEAVE_LIMIT_NS UINT64_C(10000000000)

static bool is_away(const gyre_resident *resident)
{
    return resident->leaving && !resident->on_device;
}

gyre_status cuda_give_turn(struct cuda_residents *residents)
{
    gyre_resident *next = NULL;
    for (gyre_resident *resident = residents->first; resident; resident = resident->next) {
        if (resident->on_device)
            return GYRE_OK;
        if (is_away(resident) && (!next || resident->started_ns < next->started_ns))
            next = resident;
    }
    return next ? cuda_resident_come_back(next) : GYRE_OK;
}

/*
 * Brings back all kernels that left the device and were not told to stop for good. A kernel is not brought
 * back here if it did not leave in time, because a handler does not return: some of its blocks are gone
 * already. The monitor brings it back when its last block is gone.
 */
static gyre_status bring_back(gyre_device *device)
{
    gyre_status status = GYRE_OK;
    if (device->residents->serial)
        return cuda_give_turn(device->residents);
    for (gyre_resident *resident = device->residents->first; resident; resident = resident->next) {
        gyre_status one = is_away(resident) ? cuda_resident_come_back(resident) : GYRE_OK;
        status = status == GYRE_OK ? one : status;
    }
    return status;
}

gyre_status cuda_resident_return(gyre_resident *resident)
{
    if (resident->device->residents->serial)
        return cuda_give_turn(resident->device->residents);
    return cuda_resident_come_back(resident);
}

gyre_status cuda_quiet_begin_until(gyre_device *device, uint64_t deadline_ns)
{
    gyre_status status = cuda_enter(device);
    if (status != GYRE_OK)
        return status;
    cuda_range_begin(device->host, "gyre: kernels away");
    pthread_mutex_lock(&device->residents->lock);
    for (gyre_resident *resident = device->residents->first; resident; resident = resident->next)
        if (resident->on_device)
            cuda_resident_order(resident, true);
    const uint64_t limit_ns = gyre_clock_ns() + LEAVE_LIMIT_NS;
    for (gyre_resident *resident = device->residents->first; resident && status == GYRE_OK;
         resident = resident->next)
        if (resident->leaving)
            status = cuda_resident_await(resident, deadline_ns < limit_ns ? deadline_ns : limit_ns);
    if (status != GYRE_OK) {
        bring_back(device);
        pthread_mutex_unlock(&device->residents->lock);
        cuda_range_end();
    }
    return status;
}

gyre_status cuda_quiet_begin(gyre_device *device)
{
    return cuda_quiet_begin_until(device, UINT64_MAX);
}

gyre_status cuda_quiet_end(gyre_device *device)
{
    gyre_status status = bring_back(device);
    pthread_mutex_unlock(&device->residents->lock);
    cuda_range_end();
    return status;
}

gyre_status cuda_work_begin(gyre_device *device, bool *quiet)
{
    *quiet = device->residents->serial;
    return *quiet ? cuda_quiet_begin(device) : cuda_enter(device);
}

void cuda_work_end(gyre_device *device, bool quiet)
{
    if (quiet)
        cuda_quiet_end(device);
}

gyre_status cuda_hold_begin(gyre_device *device, bool *quiet)
{
    gyre_status status = cuda_work_begin(device, quiet);
    if (status == GYRE_OK && !*quiet)
        pthread_mutex_lock(&device->residents->lock);
    return status;
}

void cuda_hold_end(gyre_device *device, bool quiet)
{
    if (quiet)
        cuda_quiet_end(device);
    else
        pthread_mutex_unlock(&device->residents->lock);
}
