/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: queues are host memory that a direct device works in, and that others get copies of; buffers belong
 * to the device. Transfers go through the service queue and wait. No locks: the core calls one at a time.
 */
#include "opencl_backend.h"

#include <stdlib.h>

gyre_status opencl_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc,
                               gyre_queue_memory **out, uint64_t *device_address)
{
    cl_int code = CL_SUCCESS;
    *out = NULL;
    gyre_queue_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return device->host->error(GYRE_EXHAUSTED, "no memory for a queue");
    memory->device = device;
    memory->region = desc->address;
    if (device->direct)
        memory->memory = device->cl->clCreateBuffer(device->context, CL_MEM_USE_HOST_PTR | CL_MEM_READ_WRITE,
                                                    desc->region_size, desc->address, &code);
    gyre_status status = opencl_check(device, code, "clCreateBuffer");
    if (status != GYRE_OK) {
        free(memory);
        return status;
    }
    *device_address = (uint64_t)(uintptr_t)memory;
    *out = memory;
    return GYRE_OK;
}

void opencl_queue_release(gyre_queue_memory *memory)
{
    if (!memory)
        return;
    if (memory->memory)
        memory->device->cl->clReleaseMemObject(memory->memory);
    free(memory);
}

gyre_status opencl_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out)
{
    cl_int code;
    *out = NULL;
    if (byte_count > device->allocation_max)
        return device->host->error(
            GYRE_EXHAUSTED, "device '%s' gives at most %llu bytes at once, asked for %llu", device->name,
            (unsigned long long)device->allocation_max, (unsigned long long)byte_count);
    gyre_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return device->host->error(GYRE_EXHAUSTED, "no memory for a buffer's handle");
    memory->device = device;
    memory->memory = device->cl->clCreateBuffer(device->context, CL_MEM_READ_WRITE, byte_count, NULL, &code);
    gyre_status status = opencl_check(device, code, "clCreateBuffer");
    if (status != GYRE_OK) {
        free(memory);
        return status;
    }
    *out = memory;
    return GYRE_OK;
}

void opencl_memory_release(gyre_memory *memory)
{
    if (!memory)
        return;
    memory->device->cl->clReleaseMemObject(memory->memory);
    free(memory);
}

static gyre_status fill(gyre_device *device, const gyre_transfer_desc *desc)
{
    const struct opencl_loader *cl = device->cl;
    gyre_status status =
        opencl_check(device,
                     cl->clEnqueueFillBuffer(device->service, desc->memory->memory, &desc->fill, 1,
                                             desc->offset, desc->byte_count, 0, NULL, NULL),
                     "clEnqueueFillBuffer");
    return status == GYRE_OK ? opencl_check(device, cl->clFinish(device->service), "clFinish") : status;
}

gyre_status opencl_transfer(gyre_device *device, const gyre_transfer_desc *desc)
{
    const struct opencl_loader *cl = device->cl;
    cl_mem memory = desc->memory->memory;
    gyre_status status = opencl_lost(device);
    if (status != GYRE_OK || desc->byte_count == 0)
        return status;
    switch (desc->kind) {
    case GYRE_TRANSFER_UPLOAD:
        return opencl_check(device,
                            cl->clEnqueueWriteBuffer(device->service, memory, CL_TRUE, desc->offset,
                                                     desc->byte_count, desc->source, 0, NULL, NULL),
                            "clEnqueueWriteBuffer");
    case GYRE_TRANSFER_DOWNLOAD:
        return opencl_check(device,
                            cl->clEnqueueReadBuffer(device->service, memory, CL_TRUE, desc->offset,
                                                    desc->byte_count, desc->target, 0, NULL, NULL),
                            "clEnqueueReadBuffer");
    case GYRE_TRANSFER_FILL:
        return fill(device, desc);
    default:
        return device->host->error(GYRE_INVALID, "no such transfer: %d", (int)desc->kind);
    }
}
