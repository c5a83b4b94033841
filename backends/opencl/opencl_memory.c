/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates memory and makes transfers. Queues are host memory: a direct device works in it, and other
 * devices get copies of it. Buffers belong to the device. Transfers go through the service queue and wait.
 * Takes no lock: the core makes one call at a time.
 */
#include "backends/opencl/opencl_check.h"
#include "backends/opencl/opencl_memory.h"
#include "backends/opencl/opencl_wait.h"

#include <stdlib.h>

enum { PAGE = 4096 };

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
    if (device->direct || device->pins)
        memory->memory = device->cl->clCreateBuffer(device->context, CL_MEM_USE_HOST_PTR | CL_MEM_READ_WRITE,
                                                    desc->region_size, desc->address, &code);
    gyre_status status = opencl_check(device, code, "clCreateBuffer");
    if (status != GYRE_OK) {
        free(memory);
        return status;
    }
    pthread_mutex_lock(&device->lost_lock);
    memory->next = device->queues;
    device->queues = memory;
    pthread_mutex_unlock(&device->lost_lock);
    *device_address = (uint64_t)(uintptr_t)memory->region;
    *out = memory;
    return GYRE_OK;
}

gyre_queue_memory *opencl_queue_find(gyre_device *device, gyre_u64 address)
{
    pthread_mutex_lock(&device->lost_lock);
    gyre_queue_memory *memory = device->queues;
    while (memory && (gyre_u64)(uintptr_t)memory->region != address)
        memory = memory->next;
    pthread_mutex_unlock(&device->lost_lock);
    return memory;
}

void opencl_queue_release(gyre_queue_memory *memory)
{
    if (!memory)
        return;
    gyre_device *const device = memory->device;
    pthread_mutex_lock(
        &device->lost_lock); /* a thread that reports a dead device may be ringing in this memory */
    gyre_queue_memory **place = &device->queues;
    while (*place != memory)
        place = &(*place)->next;
    *place = memory->next;
    pthread_mutex_unlock(&device->lost_lock);
    if (memory->memory)
        memory->device->cl->clReleaseMemObject(memory->memory);
    free(memory);
}

/* ---- buffers ---- */

/*
 * Allocates memory whose address is the same on host and device: host memory for a direct device, otherwise
 * shared virtual memory if the device has it. NULL when there is no such memory or not enough; the caller may
 * then take a plain buffer.
 */
static void *allocate_named(const gyre_device *device, uint64_t byte_count)
{
    void *address = NULL;
    if (device->direct)
        return posix_memalign(&address, PAGE, byte_count) == 0 ? address : NULL;
    if (device->shared_addresses)
        return device->cl->clSVMAlloc(device->context, CL_MEM_READ_WRITE, byte_count, 0);
    return NULL;
}

static void free_named(const gyre_device *device, void *address)
{
    if (device->direct)
        free(address);
    else if (address)
        device->cl->clSVMFree(device->context, address);
}

/* Makes a buffer over host memory, or in the device's own memory; shared virtual memory needs no buffer. */
static gyre_status create_buffer(gyre_memory *memory, uint64_t byte_count)
{
    const gyre_device *device = memory->device;
    cl_int code;
    if (memory->address && !device->direct)
        return GYRE_OK;
    memory->memory = device->cl->clCreateBuffer(
        device->context, CL_MEM_READ_WRITE | (memory->address ? CL_MEM_USE_HOST_PTR : 0), byte_count,
        memory->address, &code);
    return opencl_check(device, code, "clCreateBuffer");
}

gyre_status opencl_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out)
{
    *out = NULL;
    if (byte_count > device->allocation_max)
        return device->host->error(
            GYRE_EXHAUSTED, "device '%s' gives at most %llu bytes at once, asked for %llu", device->name,
            (unsigned long long)device->allocation_max, (unsigned long long)byte_count);
    gyre_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return device->host->error(GYRE_EXHAUSTED, "no memory for a buffer's handle");
    memory->device = device;
    memory->address = allocate_named(device, byte_count);
    gyre_status status = create_buffer(memory, byte_count);
    if (status != GYRE_OK) {
        free_named(device, memory->address);
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
    if (memory->memory)
        memory->device->cl->clReleaseMemObject(memory->memory);
    free_named(memory->device, memory->address);
    free(memory);
}

gyre_status opencl_memory_address(gyre_memory *memory, uint64_t *address)
{
    *address = (uint64_t)(uintptr_t)memory->address;
    if (memory->address)
        return GYRE_OK;
    return memory->device->host->error(
        GYRE_UNIMPLEMENTED,
        "messages cannot name buffers of device '%s': it has no shared virtual "
        "memory; bind the buffer to the kernel",
        memory->device->name);
}

gyre_status opencl_name_buffers(const gyre_device *device, cl_kernel kernel, const gyre_control_handle *table)
{
    void *addresses[GYRE_HANDLES_MAX + 1];
    size_t count = 0;
    addresses[count++] =
        /* the driver ignores an empty list: the kernel would keep the list it was told last */
        device->anchor;
    for (size_t i = 0; i < GYRE_HANDLES_MAX; i++)
        if (table[i].id)
            addresses[count++] = (void *)(uintptr_t)table[i].address;
    return opencl_check(device,
                        device->cl->clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS,
                                                        count * sizeof addresses[0], addresses),
                        "clSetKernelExecInfo");
}

/* ---- transfers ---- */

static gyre_status finish_command(gyre_device *device, cl_int enqueued, const cl_event *event,
                                  const char *call)
{
    return opencl_check(device, opencl_finish(device, device->service, enqueued, event), call);
}

/* Returns the address in shared virtual memory at which the transfer begins. */
static void *start_of(const gyre_transfer_desc *desc)
{
    return (char *)desc->memory->address + desc->offset;
}

static gyre_status upload_buffer(gyre_device *device, const gyre_transfer_desc *desc)
{
    const struct opencl_loader *cl = device->cl;
    cl_event event = NULL;
    if (!desc->memory->memory)
        return finish_command(device,
                              cl->clEnqueueSVMMemcpy(device->service, CL_FALSE, start_of(desc), desc->source,
                                                     desc->byte_count, 0, NULL, &event),
                              &event, "clEnqueueSVMMemcpy");
    return finish_command(device,
                          cl->clEnqueueWriteBuffer(device->service, desc->memory->memory, CL_FALSE,
                                                   desc->offset, desc->byte_count, desc->source, 0, NULL,
                                                   &event),
                          &event, "clEnqueueWriteBuffer");
}

static gyre_status download_buffer(gyre_device *device, const gyre_transfer_desc *desc)
{
    const struct opencl_loader *cl = device->cl;
    cl_event event = NULL;
    if (!desc->memory->memory)
        return finish_command(device,
                              cl->clEnqueueSVMMemcpy(device->service, CL_FALSE, desc->target, start_of(desc),
                                                     desc->byte_count, 0, NULL, &event),
                              &event, "clEnqueueSVMMemcpy");
    return finish_command(device,
                          cl->clEnqueueReadBuffer(device->service, desc->memory->memory, CL_FALSE,
                                                  desc->offset, desc->byte_count, desc->target, 0, NULL,
                                                  &event),
                          &event, "clEnqueueReadBuffer");
}

static gyre_status fill_buffer(gyre_device *device, const gyre_transfer_desc *desc)
{
    const struct opencl_loader *cl = device->cl;
    cl_event event = NULL;
    if (!desc->memory->memory)
        return finish_command(device,
                              cl->clEnqueueSVMMemFill(device->service, start_of(desc), &desc->fill, 1,
                                                      desc->byte_count, 0, NULL, &event),
                              &event, "clEnqueueSVMMemFill");
    return finish_command(device,
                          cl->clEnqueueFillBuffer(device->service, desc->memory->memory, &desc->fill, 1,
                                                  desc->offset, desc->byte_count, 0, NULL, &event),
                          &event, "clEnqueueFillBuffer");
}

gyre_status opencl_transfer(gyre_device *device, const gyre_transfer_desc *desc)
{
    gyre_status status = opencl_lost(device);
    if (status != GYRE_OK || desc->byte_count == 0)
        return status;
    switch (desc->kind) {
    case GYRE_TRANSFER_UPLOAD:
        return upload_buffer(device, desc);
    case GYRE_TRANSFER_DOWNLOAD:
        return download_buffer(device, desc);
    case GYRE_TRANSFER_FILL:
        return fill_buffer(device, desc);
    default:
        return device->host->error(GYRE_INVALID, "no such transfer: %d", (int)desc->kind);
    }
}

/*
 * Copies between two buffers. Both are of one kind, unless one of two shared allocations failed and a plain
 * buffer took its place.
 */
gyre_status opencl_memory_copy(gyre_device *device, const gyre_copy_desc *desc)
{
    const struct opencl_loader *cl = device->cl;
    const struct gyre_memory *source = desc->source, *target = desc->target;
    cl_event event = NULL;
    gyre_status status = opencl_lost(device);
    if (status != GYRE_OK || desc->byte_count == 0)
        return status;
    if (source->memory && target->memory)
        return finish_command(device,
                              cl->clEnqueueCopyBuffer(device->service, source->memory, target->memory,
                                                      desc->source_offset, desc->target_offset,
                                                      desc->byte_count, 0, NULL, &event),
                              &event, "clEnqueueCopyBuffer");
    if (source->memory || target->memory)
        return device->host->error(GYRE_UNIMPLEMENTED,
                                   "device '%s' copies between two buffers of shared virtual memory or two "
                                   "of its own, not from one kind to the other",
                                   device->name);
    return finish_command(device,
                          cl->clEnqueueSVMMemcpy(device->service, CL_FALSE,
                                                 (char *)target->address + desc->target_offset,
                                                 (char *)source->address + desc->source_offset,
                                                 desc->byte_count, 0, NULL, &event),
                          &event, "clEnqueueSVMMemcpy");
}
