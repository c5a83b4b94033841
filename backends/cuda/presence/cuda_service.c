/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes commands in the service stream (the stream without kernels), for every file that has device memory.
 * Takes no lock: the driver orders the commands of a stream.
 */
#include "backends/cuda/presence/cuda_service.h"

#include "backends/cuda/cuda_check.h"
#include "backends/cuda/cuda_failure.h"

void cuda_service_free(gyre_device *device, uint64_t address)
{
    CUresult result;
    CUDA_PATIENTLY(result, device->driver->cuMemFreeAsync(address, device->residents->service))
    cuda_check_gone(device, result, "cuMemFreeAsync");
}

bool cuda_service_read(gyre_device *device, void *to, uint64_t from, size_t size, const char *otherwise)
{
    const struct cuda_driver *driver = device->driver;
    const CUstream service = device->residents->service;
    const char *call = "cuMemcpyDtoHAsync";
    CUresult result = driver->cuMemcpyDtoHAsync(to, from, size, service);
    if (result == CUDA_SUCCESS) {
        call = "cuStreamSynchronize";
        result = driver->cuStreamSynchronize(service);
    }
    cuda_tell(device, result, call, otherwise);
    return result == CUDA_SUCCESS;
}

bool cuda_service_try_read(gyre_device *device, void *to, uint64_t from, size_t size, const char *otherwise)
{
    const CUresult result = device->driver->cuStreamQuery(device->residents->service);
    if (result == CUDA_ERROR_NOT_READY)
        return false;
    cuda_tell(device, result, "cuStreamQuery", otherwise);
    return result == CUDA_SUCCESS && cuda_service_read(device, to, from, size, otherwise);
}
