/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes what all kernels of a GPU share (struct cuda_residents: the service stream, the memory for orders,
 * the monitor's thread) when the first runtime opens the GPU, and frees it when the last runtime closes it.
 * No kernel is launched here: cuda_presence.c puts kernels onto the GPU, by the driver call in cuda_serial.c.
 *
 * Lock: table_lock, of the table of GPUs, outermost. It is held while residents are made and destroyed.
 */
#include "backends/cuda/cuda_check.h"
#include "backends/cuda/driver/cuda_context.h"
#include "backends/cuda/cuda_failure.h"
#include "backends/cuda/residents/cuda_monitor.h"
#include "backends/cuda/cuda_resident.h"
#include "backends/cuda/residents/cuda_residents.h"
#include "backends/cuda/presence/cuda_serial.h"
#include "gyre/lack.h"
#include "gyre/thread.h"

#include <stdlib.h>
#include <string.h>

static gyre_status keep_freed_memory(gyre_device *device)
{
    CUmemoryPool pool;
    cuuint64_t all = UINT64_MAX;
    gyre_status status = cuda_check(device, device->driver->cuDeviceGetDefaultMemPool(&pool, device->handle),
                                    "cuDeviceGetDefaultMemPool");
    if (status != GYRE_OK)
        return status;
    /* freed memory stays in the pool: returning it to the system would wait for resident kernels */
    return cuda_check(device,
                      device->driver->cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all),
                      "cuMemPoolSetAttribute");
}

/*
 * One entry for each GPU that this process uses, by the driver's number of the GPU; guarded by `table_lock`.
 */
enum { GPUS_MAX = 256 };
static struct cuda_residents *table[GPUS_MAX];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

static void destroy_streams(gyre_device *device, CUstream *streams, size_t count)
{
    for (size_t i = 0; i < count && streams[i]; i++)
        cuda_check_gone(device, device->driver->cuStreamDestroy(streams[i]), "cuStreamDestroy");
}

/*
 * Makes streams. All streams of a GPU are made before a kernel is resident: cuStreamCreate blocks beside a resident kernel
 * once the driver has to add hardware queues for it (measured: at the 34th stream on an H100).
 */
static gyre_status make_streams(gyre_device *device, CUstream *streams, size_t count)
{
    gyre_status status = GYRE_OK;
    for (size_t i = 0; i < count && status == GYRE_OK; i++) {
        CUresult result;
        CUDA_PATIENTLY(result, device->driver->cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING))
        status = cuda_check(device, result, "cuStreamCreate");
    }
    return status;
}

static void destroy_residents(gyre_device *device, struct cuda_residents *residents)
{
    __atomic_store_n(&residents->leave, 1, __ATOMIC_RELEASE);
    if (residents->monitor_started)
        pthread_join(residents->monitor, NULL);
    if (cuda_enter(device) == GYRE_OK) {
        CUresult result = CUDA_SUCCESS;
        destroy_streams(device, &residents->service, 1);
        destroy_streams(device, residents->kernels, CUDA_RESIDENTS_MAX);
        destroy_streams(device, residents->carriers, CUDA_CARRIERS_MAX);
        if (residents->orders) { /* the kernels in the streams read the orders */
            CUDA_PATIENTLY(result, device->driver->cuMemFreeHost(residents->orders))
        }
        cuda_check_gone(device, result, "cuMemFreeHost");
    }
    pthread_mutex_destroy(&residents->lock);
    free(residents);
}

/* How much local memory each thread has from the start. A driver that does not tell: none, and kernels that need more make way at once. */
static uint32_t ask_stack_size(gyre_device *device)
{
    size_t size = 0;
    if (!device->driver->cuCtxGetLimit)
        return 0;
    const CUresult result = device->driver->cuCtxGetLimit(&size, CU_LIMIT_STACK_SIZE);
    cuda_tell(device, result, "cuCtxGetLimit",
              "every kernel that needs local memory is launched when no other works");
    return result == CUDA_SUCCESS ? (uint32_t)size : 0;
}

static gyre_status create_residents(gyre_device *device, struct cuda_residents **out)
{
    const struct cuda_driver *driver = device->driver;
    struct cuda_residents *residents = calloc(1, sizeof *residents);
    if (!residents)
        return device->host->error(GYRE_EXHAUSTED, "no memory for a device's kernels");
    residents->serial = cuda_serial_expected(device->host);
    residents->stack_size = ask_stack_size(device);
    pthread_mutex_init(&residents->lock, NULL);
    void *orders = NULL;
    gyre_status status = make_streams(device, &residents->service, 1);
    /* kernels last, so that with few hardware queues the first kernels share none of them with copies */
    if (status == GYRE_OK)
        status = make_streams(device, residents->carriers, CUDA_CARRIERS_MAX);
    if (status == GYRE_OK)
        status = make_streams(device, residents->kernels, CUDA_RESIDENTS_MAX);
    if (status == GYRE_OK)
        status = cuda_check(device,
                            driver->cuMemHostAlloc(&orders, CUDA_RESIDENTS_MAX * sizeof(gyre_cuda_orders),
                                                   CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE),
                            "cuMemHostAlloc");
    residents->orders = orders;
    if (status == GYRE_OK)
        status = cuda_check(device, driver->cuMemHostGetDevicePointer(&residents->device_orders, orders, 0),
                            "cuMemHostGetDevicePointer");
    if (status == GYRE_OK)
        status = keep_freed_memory(device);
    const int error =
        status == GYRE_OK ? gyre_thread_start(&residents->monitor, NULL, cuda_residents_watch, residents) : 0;
    if (error)
        status = device->host->error(GYRE_EXHAUSTED, "no thread to watch over the device: %s%s",
                                     strerror(error), gyre_lack_remedy(error));
    residents->monitor_started = status == GYRE_OK;
    if (status == GYRE_OK)
        *out = residents;
    else
        destroy_residents(device, residents);
    return status;
}

gyre_status cuda_residents_open(gyre_device *device)
{
    gyre_status status = GYRE_OK;
    if (device->handle < 0 || device->handle >= GPUS_MAX)
        return device->host->error(GYRE_UNIMPLEMENTED, "GPU %d is beyond the %d that are supported",
                                   device->handle, GPUS_MAX);
    pthread_mutex_lock(&table_lock);
    struct cuda_residents **entry = &table[device->handle];
    if (!*entry)
        status = create_residents(device, entry);
    if (status == GYRE_OK) {
        (*entry)->users++;
        device->residents = *entry;
    }
    pthread_mutex_unlock(&table_lock);
    return status;
}

void cuda_residents_close(gyre_device *device)
{
    if (!device->residents)
        return;
    pthread_mutex_lock(&table_lock);
    if (--device->residents->users == 0) {
        destroy_residents(device, device->residents);
        table[device->handle] = NULL;
    }
    device->residents = NULL;
    pthread_mutex_unlock(&table_lock);
}
