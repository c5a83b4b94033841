/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures how long a kernel stayed on its device, by two events of the device in the kernel's stream, before
 * and after the launch. They cost two driver calls a stay, so a kernel has them only when its stays are to be
 * measured. The figures' words have one writer, the thread that holds residents->lock; the core writes
 * `timed` beside them. After a failure here the stay is not counted, and all else goes on.
 */
#include "backends/cuda/cuda_check.h"
#include "backends/cuda/cuda_resident.h"
#include "backends/cuda/presence/cuda_stays.h"

gyre_status cuda_stays_prepare(gyre_resident *resident)
{
    gyre_device *device = resident->device;
    const struct cuda_driver *driver = device->driver;
    if (!resident->control->absences.timed || !driver->cuEventElapsedTime)
        return GYRE_OK;
    gyre_status status =
        cuda_check(device, driver->cuEventCreate(&resident->arrived, CU_EVENT_DEFAULT), "cuEventCreate");
    if (status == GYRE_OK)
        status =
            cuda_check(device, driver->cuEventCreate(&resident->gone, CU_EVENT_DEFAULT), "cuEventCreate");
    return status;
}

static void record_event(const gyre_resident *resident, CUevent event)
{
    if (event)
        cuda_note(resident->device, resident->device->driver->cuEventRecord(event, resident->stream),
                  "cuEventRecord");
}

void cuda_stay_begins(gyre_resident *resident)
{
    record_event(resident, resident->arrived);
}

void cuda_stay_ends(gyre_resident *resident)
{
    record_event(resident, resident->gone);
}

void cuda_stay_count(gyre_resident *resident)
{
    gyre_control_absences *line = &resident->control->absences;
    float milliseconds = 0;
    if (!resident->gone)
        return;
    const CUresult result =
        resident->device->driver->cuEventElapsedTime(&milliseconds, resident->arrived, resident->gone);
    cuda_note(resident->device, result, "cuEventElapsedTime");
    if (result != CUDA_SUCCESS)
        return;
    const uint64_t stay_ns = (uint64_t)((double)milliseconds * 1e6);
    /* relaxed, and no read-modify-write: these words have one writer */
    __atomic_store_n(&line->stayed_ns, line->stayed_ns + stay_ns, __ATOMIC_RELAXED);
    if (stay_ns > line->longest_stay_ns)
        __atomic_store_n(&line->longest_stay_ns, stay_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&line->stays, line->stays + 1, __ATOMIC_RELAXED);
}

void cuda_stays_finish(gyre_resident *resident)
{
    const struct cuda_driver *driver = resident->device->driver;
    if (resident->arrived)
        cuda_check_gone(resident->device, driver->cuEventDestroy(resident->arrived), "cuEventDestroy");
    if (resident->gone)
        cuda_check_gone(resident->device, driver->cuEventDestroy(resident->gone), "cuEventDestroy");
    resident->arrived = resident->gone = NULL;
}
