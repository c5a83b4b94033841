/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns failed calls of OpenCL into statuses with sentences. The device keeps the first failure that nothing
 * recovers from, so that every later call reports the cause and not a consequence of it. Lock: lost_lock,
 * innermost. This file never retries a call.
 */
#include "backends/opencl/opencl_backend.h"
#include "backends/opencl/opencl_check.h"

#include <stdio.h>

static gyre_status classify_code(cl_int code)
{
    switch (code) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
        return GYRE_EXHAUSTED;
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE:
    case CL_INVALID_BUFFER_SIZE:
    case CL_INVALID_BINARY:
    case CL_INVALID_BUILD_OPTIONS:
    case CL_INVALID_PROGRAM_EXECUTABLE:
        return GYRE_INVALID;
    case CL_DEVICE_NOT_FOUND:
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_COMPILER_NOT_AVAILABLE:
    case CL_INVALID_QUEUE_PROPERTIES:
    case -1001: /* CL_PLATFORM_NOT_FOUND_KHR */
        return GYRE_UNAVAILABLE;
    default:
        return GYRE_INTERNAL;
    }
}

gyre_status opencl_check_host(const gyre_host *host, cl_int code, const char *call)
{
    if (code == CL_SUCCESS)
        return GYRE_OK;
    return host->error(classify_code(code), "%s failed with %d (%s)", call, (int)code,
                       opencl_code_name(code));
}

gyre_status opencl_check(const gyre_device *device, cl_int code, const char *call)
{
    if (code == CL_SUCCESS)
        return GYRE_OK;
    return device->host->error(classify_code(code), "device '%s': %s failed with %d (%s)", device->name, call,
                               (int)code, opencl_code_name(code));
}

/* Marks the device as lost. The first caller's text stays. */
gyre_status opencl_lose(gyre_device *device, cl_int code, const char *what)
{
    pthread_mutex_lock(&device->lost_lock);
    if (!atomic_load_explicit(&device->lost, memory_order_relaxed)) {
        snprintf(device->lost_text, sizeof device->lost_text, "%s failed with %d (%s)", what, (int)code,
                 opencl_code_name(code));
        /* release: pairs with the acquire in opencl_lost, which reads the text afterwards */
        atomic_store_explicit(&device->lost, true, memory_order_release);
    }
    pthread_mutex_unlock(&device->lost_lock);
    return opencl_lost(device);
}

gyre_status opencl_lost(gyre_device *device)
{
    if (!atomic_load_explicit(&device->lost, memory_order_acquire))
        return GYRE_OK;
    return device->host->error(
        GYRE_LOST, "the device '%s' does not work any more in this process: %s; start the program again",
        device->name, device->lost_text);
}
