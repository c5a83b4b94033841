/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: queues are host memory that the device sees, buffers are device memory from the stream-ordered
 * pool.
 *
 * Registering and allocating do not wait for resident kernels. Unregistering does, so it happens while they
 * have left (cuda_quiet_begin). Everything runs in the service stream, which never holds a kernel.
 */
#include "cuda_resident.h"

#include <stdlib.h>

struct gyre_queue_memory {
    gyre_device *device;
    void *address;
};

struct gyre_memory {
    gyre_device *device;
    CUdeviceptr address;
};

gyre_status cuda_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc, gyre_queue_memory **out,
                             uint64_t *device_address)
{
    CUdeviceptr address = 0;
    *out = NULL;
    gyre_queue_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return device->host->error(GYRE_EXHAUSTED, "no memory for a queue");
    bool quiet = false;
    gyre_status status = cuda_work_begin(device, &quiet);
    if (status != GYRE_OK) {
        free(memory);
        return status;
    }
    status = cuda_check(
        device,
        device->driver->cuMemHostRegister(desc->address, desc->region_size,
                                          CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_PORTABLE),
        "cuMemHostRegister");
    if (status == GYRE_OK)
        status = cuda_check(device, device->driver->cuMemHostGetDevicePointer(&address, desc->address, 0),
                            "cuMemHostGetDevicePointer");
    cuda_work_end(device, quiet);
    if (status != GYRE_OK) {
        free(memory);
        return status;
    }
    memory->device = device;
    memory->address = desc->address;
    *device_address = address;
    *out = memory;
    return GYRE_OK;
}

void cuda_queue_release(gyre_queue_memory *memory)
{
    if (!memory)
        return;
    gyre_device *device = memory->device;
    if (cuda_quiet_begin(device) == GYRE_OK) {
        cuda_check(device, device->driver->cuMemHostUnregister(memory->address), "cuMemHostUnregister");
        cuda_quiet_end(device);
    }
    free(memory);
}

gyre_status cuda_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out)
{
    *out = NULL;
    gyre_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return device->host->error(GYRE_EXHAUSTED, "no memory for a buffer's handle");
    bool quiet = false;
    gyre_status status = cuda_work_begin(device, &quiet);
    if (status != GYRE_OK) {
        free(memory);
        return status;
    }
    memory->device = device;
    CUstream service = device->residents->service;
    status = cuda_check(device, device->driver->cuMemAllocAsync(&memory->address, byte_count, service),
                        "cuMemAllocAsync");
    if (status == GYRE_OK)
        status = cuda_check(device, device->driver->cuStreamSynchronize(service), "cuStreamSynchronize");
    cuda_work_end(device, quiet);
    if (status != GYRE_OK) {
        free(memory);
        return status;
    }
    *out = memory;
    return GYRE_OK;
}

void cuda_memory_release(gyre_memory *memory)
{
    if (!memory)
        return;
    gyre_device *device = memory->device;
    bool quiet = false;
    if (cuda_work_begin(device, &quiet) == GYRE_OK) {
        cuda_check(device, device->driver->cuMemFreeAsync(memory->address, device->residents->service),
                   "cuMemFreeAsync");
        cuda_work_end(device, quiet);
    }
    free(memory);
}

gyre_status cuda_memory_address(gyre_memory *memory, uint64_t *address)
{
    *address = memory->address;
    return GYRE_OK;
}

uint64_t cuda_memory_place(const gyre_memory *memory)
{
    return memory->address;
}
