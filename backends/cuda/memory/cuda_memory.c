/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates and frees memory. Queues are host memory that the device sees; buffers are device memory from the
 * driver's stream-ordered pool.
 *
 * Freed memory stays in the pool, because returning it to the system would wait for resident kernels. If an
 * allocation fails for want of memory, the pool is returned after all, in a quiet moment (no kernel is on the
 * device), and the allocation is tried once more.
 *
 * Registering and allocating do not wait for resident kernels. Unregistering does, so it happens in a quiet
 * moment (cuda_quiet_begin). Every command runs in the service stream, which never holds a kernel.
 */
#include "backends/cuda/cuda_check.h"
#include "backends/cuda/driver/cuda_context.h"
#include "backends/cuda/cuda_failure.h"
#include "backends/cuda/memory/cuda_memory.h"
#include "backends/cuda/memory/cuda_peek.h"
#include "backends/cuda/presence/cuda_quiet.h"
#include "backends/cuda/cuda_resident.h"
#include "backends/cuda/presence/cuda_service.h"

#include <pthread.h>
#include <stdlib.h>

struct gyre_queue_memory {
    gyre_device *device;
    void *address;
};

/*
 * What is registered, with the devices of this process that use it: the driver registers memory once, for all of them. A queue that
 * moves from one device to another is used by both for a moment.
 */
struct registered {
    struct registered *next;
    const void *address;
    gyre_device *device; /* in whose context it is registered, so whose kernels leave for the end of that */
    uint32_t users;
};
static struct {
    pthread_mutex_t lock;
    struct registered *first;
} host = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct registered **find_registered(const void *address)
{
    struct registered **at = &host.first;
    while (*at && (*at)->address != address)
        at = &(*at)->next;
    return at;
}

gyre_status cuda_host_register(gyre_device *device, void *address, size_t size)
{
    CUresult result = CUDA_SUCCESS;
    struct registered *made = malloc(sizeof *made);
    if (!made)
        return device->host->error(GYRE_EXHAUSTED, "no memory to register a queue");
    pthread_mutex_lock(&host.lock);
    struct registered **at = find_registered(address);
    if (*at) {
        (*at)->users++;
        free(made);
    } else {
        CUDA_PATIENTLY(result, device->driver->cuMemHostRegister(
                                   address, size, CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_PORTABLE))
        *made = (struct registered){.address = address, .device = device, .users = 1};
        if (result == CUDA_SUCCESS)
            *at = made;
        else
            free(made);
    }
    pthread_mutex_unlock(&host.lock);
    return cuda_check(device, result, "cuMemHostRegister");
}

/* Returns the device in whose context the memory is registered; NULL: others use it still. */
static gyre_device *forget_registered(const void *address)
{
    gyre_device *device = NULL;
    pthread_mutex_lock(&host.lock);
    struct registered **at = find_registered(address), *found = *at;
    if (found && --found->users == 0) {
        device = found->device;
        *at = found->next;
        free(found);
    }
    pthread_mutex_unlock(&host.lock);
    return device;
}

void cuda_host_unregister(void *address)
{
    CUresult result;
    gyre_device *device = forget_registered(address);
    if (!device || cuda_quiet_begin(device) != GYRE_OK)
        return;
    CUDA_PATIENTLY(result, device->driver->cuMemHostUnregister(address))
    cuda_check_gone(device, result, "cuMemHostUnregister");
    cuda_quiet_end(device);
}

/* Frees a queue's memory. A memory->address that is not 0 says that the memory was registered. */
static void release_queue(gyre_queue_memory *memory)
{
    if (memory->address)
        cuda_host_unregister(memory->address);
    free(memory);
}

static gyre_status map_queue(gyre_queue_memory *memory, const gyre_queue_memory_desc *desc,
                             CUdeviceptr *address)
{
    gyre_device *device = memory->device;
    bool quiet = false;
    gyre_status status = cuda_work_begin(device, &quiet);
    if (status != GYRE_OK)
        return status;
    status = cuda_host_register(device, desc->address, desc->region_size);
    if (status == GYRE_OK) {
        memory->address = desc->address;
        status = cuda_check(device, device->driver->cuMemHostGetDevicePointer(address, desc->address, 0),
                            "cuMemHostGetDevicePointer");
    }
    cuda_work_end(device, quiet);
    return status;
}

gyre_status cuda_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc, gyre_queue_memory **out,
                             uint64_t *device_address)
{
    CUdeviceptr address = 0;
    *out = NULL;
    gyre_queue_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return device->host->error(GYRE_EXHAUSTED, "no memory for a queue");
    memory->device = device;
    gyre_status status = map_queue(memory, desc, &address);
    if (status != GYRE_OK) {
        release_queue(memory);
        return status;
    }
    *device_address = address;
    *out = memory;
    return GYRE_OK;
}

void cuda_queue_release(gyre_queue_memory *memory)
{
    if (memory)
        release_queue(memory);
}

/* Bytes that the pool keeps beyond the bytes in use; 0 with drivers that do not tell. */
static uint64_t kept_by_pool(const gyre_device *device, CUmemoryPool pool)
{
    const struct cuda_driver *driver = device->driver;
    cuuint64_t reserved = 0, used = 0;
    if (!driver->cuMemPoolGetAttribute || !driver->cuMemPoolTrimTo ||
        driver->cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved) !=
            CUDA_SUCCESS ||
        driver->cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used) != CUDA_SUCCESS)
        return 0;
    return reserved > used ? reserved - used : 0;
}

bool cuda_reclaim(gyre_device *device)
{
    const struct cuda_driver *driver = device->driver;
    CUmemoryPool pool;
    if (cuda_enter(device) != GYRE_OK ||
        driver->cuDeviceGetDefaultMemPool(&pool, device->handle) != CUDA_SUCCESS)
        return false;
    const uint64_t kept = kept_by_pool(device, pool);
    if (kept == 0 || cuda_quiet_begin(device) != GYRE_OK)
        return false;
    cuda_note(device, driver->cuStreamSynchronize(device->residents->service), "cuStreamSynchronize");
    /* kept_by_pool tells the result */
    cuda_note(device, driver->cuMemPoolTrimTo(pool, 0), "cuMemPoolTrimTo");
    const bool less = kept_by_pool(device, pool) < kept;
    return cuda_quiet_end(device) == GYRE_OK && less;
}

static gyre_status try_alloc(gyre_memory *memory, uint64_t byte_count)
{
    gyre_device *device = memory->device;
    bool quiet = false;
    CUresult result;
    gyre_status status = cuda_work_begin(device, &quiet);
    if (status != GYRE_OK)
        return status;
    CUstream service = device->residents->service;
    CUDA_PATIENTLY(result, device->driver->cuMemAllocAsync(&memory->address, byte_count, service))
    status = cuda_check(device, result, "cuMemAllocAsync");
    if (status == GYRE_OK) {
        status = cuda_check(device, device->driver->cuStreamSynchronize(service), "cuStreamSynchronize");
        if (status != GYRE_OK)
            cuda_service_free(device, memory->address);
    }
    cuda_work_end(device, quiet);
    return status;
}

gyre_status cuda_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out)
{
    *out = NULL;
    gyre_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return device->host->error(GYRE_EXHAUSTED, "no memory for a buffer's handle");
    memory->device = device;
    gyre_status status = try_alloc(memory, byte_count);
    if (status == GYRE_EXHAUSTED && cuda_reclaim(device))
        status = try_alloc(memory, byte_count);
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
    cuda_peek_forget(device, memory);
    if (cuda_work_begin(device, &quiet) == GYRE_OK) {
        cuda_service_free(device, memory->address);
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
