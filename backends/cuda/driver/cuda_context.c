/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retains, enters and releases the primary context of a device, which other libraries of the process share.
 * Takes no lock: the context is the same from the opening of the device to its end, and the driver keeps the
 * current context of each thread apart.
 */
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/cuda_check.h"
#include "backends/cuda/driver/cuda_context.h"
#include "backends/cuda/cuda_failure.h"

gyre_status cuda_context_open(gyre_device *device)
{
    CUresult result;
    /* in the compute mode 'exclusive' another process may still be releasing the device */
    CUDA_PATIENTLY(result, device->driver->cuDevicePrimaryCtxRetain(&device->context, device->handle))
    gyre_status status = cuda_check(device, result, "cuDevicePrimaryCtxRetain");
    if (status != GYRE_OK)
        device->context = NULL;
    return status == GYRE_OK ? cuda_enter(device) : status;
}

gyre_status cuda_enter(gyre_device *device)
{
    CUcontext current = NULL;
    if (!device->driver)
        return cuda_compile_only(device, "this");
    CUresult result = device->driver->cuCtxGetCurrent(&current);
    if (result == CUDA_SUCCESS && current == device->context)
        return GYRE_OK;
    cuda_note(device, result, "cuCtxGetCurrent");
    CUDA_PATIENTLY(result, device->driver->cuCtxSetCurrent(device->context))
    return cuda_check(device, result, "cuCtxSetCurrent");
}

void cuda_context_close(gyre_device *device)
{
    cuda_check_gone(device, device->driver->cuDevicePrimaryCtxRelease(device->handle),
                    "cuDevicePrimaryCtxRelease");
}
