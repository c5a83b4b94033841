/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's functions. Lock: `driver_lock`, which every call takes, and a launch that blocks keeps. A call
 * that waits longer than WAIT_LIMIT_S for it ends the test: on a GPU it would hang.
 */
#include "backends/cuda/cuda_failure.h"
#include "gpu.h"
#include "gpu_faults.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gyre/waiting.h"
#include "unit/unit.h"

enum { WAIT_LIMIT_S = 5, TURN_NS = 50000 };

bool gpu_blocks;
uint32_t gpu_present, gpu_most;
size_t gpu_memory = SIZE_MAX / 2;
static size_t largest_copy;
static size_t pool_reserved, pool_kept; /* bytes; kept: freed and not given back */

static pthread_mutex_t driver_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local CUcontext current;

struct CUstream_st {
    pthread_t thread;
    bool started;
    uint32_t busy; /* atomic */
    uint32_t blocks;
    gyre_cuda_arguments arguments;
    uint64_t left_ns; /* when its last kernel did */
};

/* Passed at `passed_ns`, or, recorded behind a kernel, when that left. */
struct CUevent_st {
    CUstream behind;
    uint64_t passed_ns;
};

static void enter(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_LIMIT_S;
    if (pthread_mutex_timedlock(&driver_lock, &until) != 0) {
        fprintf(stderr, "a call into the driver waits for a kernel that does not leave\n");
        abort();
    }
}

static CUresult leave(void)
{
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

void gpu_fail(uint32_t first, CUresult answer, uint32_t times)
{
    enter();
    pool_reserved = pool_kept = 0;
    leave();
    gpu_faults_set(first, answer, times);
}

size_t gpu_copied_at_most(void)
{
    enter();
    const size_t most = largest_copy;
    leave();
    return most;
}

void gpu_forget_copies(void)
{
    enter();
    largest_copy = 0;
    leave();
}

/* ---- a kernel ---- */

static void note_presence(void)
{
    uint32_t now = __atomic_add_fetch(&gpu_present, 1, __ATOMIC_SEQ_CST);
    if (now > __atomic_load_n(&gpu_most, __ATOMIC_SEQ_CST))
        __atomic_store_n(&gpu_most, now, __ATOMIC_SEQ_CST);
}

/* As cuda_resident.h: an order to leave is obeyed first, and not acknowledged. */
static void *reside(void *argument)
{
    CUstream stream = argument;
    const gyre_cuda_arguments *arguments = &stream->arguments;
    gyre_control_block *blocks = (gyre_control_block *)(arguments->control + 1);
    note_presence();
    for (;;) {
        if (gpu_is_dead() || __atomic_load_n(&arguments->orders->order, __ATOMIC_ACQUIRE) & GYRE_ORDER_LEAVE)
            break;
        gyre_u64 command = __atomic_load_n(&arguments->control->command.command, __ATOMIC_ACQUIRE);
        for (uint32_t i = 0; i < stream->blocks; i++)
            __atomic_store_n(&blocks[i].acknowledged, command, __ATOMIC_RELEASE);
        __atomic_fetch_add(&blocks[0].handled, 1, __ATOMIC_RELAXED);
        if (GYRE_COMMAND_VERB(command) == GYRE_VERB_STOP)
            break;
        nanosleep(&(struct timespec){0, TURN_NS}, NULL);
    }
    __atomic_fetch_sub(&gpu_present, 1, __ATOMIC_SEQ_CST);
    stream->left_ns = gyre_clock_ns();
    __atomic_store_n(&stream->busy, 0, __ATOMIC_RELEASE);
    return NULL;
}

/* NOLINTNEXTLINE(readability-function-size): the driver's own parameters */
static CUresult launch(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, CUstream stream,
                       void **parameters)
{
    (void)function, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z, (void)shared;
    const CUresult broken = gpu_next_fault(__func__);
    if (broken)
        return broken;
    enter();
    if (stream->started)
        pthread_join(stream->thread, NULL);
    memcpy(&stream->arguments, parameters[0], sizeof stream->arguments);
    stream->blocks = grid_x;
    stream->busy = 1;
    stream->started = pthread_create(&stream->thread, NULL, reside, stream) == 0;
    while (gpu_blocks && __atomic_load_n(&stream->busy, __ATOMIC_ACQUIRE))
        nanosleep(&(struct timespec){0, TURN_NS}, NULL);
    return leave();
}

/* ---- the rest of a driver ---- */

static CUresult get_current(CUcontext *context)
{
    *context = current;
    return CUDA_SUCCESS;
}

static CUresult set_current(CUcontext context)
{
    current = context;
    return CUDA_SUCCESS;
}

static CUresult stream_create(CUstream *stream, unsigned flags)
{
    (void)flags;
    const CUresult broken = gpu_next_fault(__func__);
    if (broken)
        return broken;
    enter();
    *stream = calloc(1, sizeof **stream);
    return leave();
}

static CUresult stream_destroy(CUstream stream)
{
    const CUresult broken = gpu_next_fault(__func__);
    enter();
    if (stream->started)
        pthread_join(stream->thread, NULL);
    free(stream);
    leave();
    return broken; /* it is gone all the same */
}

static CUresult stream_query(CUstream stream)
{
    /* how often it is asked depends on the machine: it is no numbered call */
    const CUresult broken = gpu_next_query_fault();
    if (broken)
        return broken;
    enter();
    leave();
    return __atomic_load_n(&stream->busy, __ATOMIC_ACQUIRE) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static CUresult stream_synchronize(CUstream stream)
{
    CUresult broken = gpu_next_fault(__func__);
    if (!broken && stream->started)
        broken = gpu_next_query_fault();
    if (broken)
        return broken;
    enter();
    if (stream->started) {
        pthread_join(stream->thread, NULL);
        stream->started = false;
    }
    return leave();
}

static CUresult get_function(CUfunction *function, CUmodule module, const char *name)
{
    (void)module, (void)name;
    const CUresult broken = gpu_next_fault(__func__);
    if (broken)
        return broken;
    enter();
    *function = NULL;
    return leave();
}

static CUresult set_attribute(CUfunction function, CUfunction_attribute which, int value)
{
    (void)function, (void)which, (void)value;
    const CUresult broken = gpu_next_fault(__func__);
    if (broken)
        return broken;
    enter();
    return leave();
}

static CUresult occupancy(int *blocks, CUfunction function, int threads, size_t shared)
{
    (void)function, (void)threads, (void)shared;
    const CUresult broken = gpu_next_fault(__func__);
    if (broken)
        return broken;
    enter();
    *blocks = 1;
    return leave();
}

static CUresult memory_new(CUdeviceptr *address, size_t size, CUstream stream)
{
    (void)stream;
    const CUresult broken = gpu_next_fault(__func__);
    if (broken)
        return broken;
    enter();
    const bool fits = pool_reserved + size <= gpu_memory;
    *address = fits ? (CUdeviceptr)(uintptr_t)malloc(size) : 0;
    pool_reserved += fits ? size : 0;
    leave();
    return fits ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult memory_free(CUdeviceptr address, CUstream stream)
{
    (void)stream;
    const CUresult broken = gpu_next_fault(__func__);
    if (cuda_class_of(broken) == CUDA_CLASS_TRANSIENT)
        return broken;
    enter();
    pool_kept += malloc_usable_size((void *)(uintptr_t)address);
    free((void *)(uintptr_t)address);
    leave();
    return broken; /* it is gone all the same */
}

static CUresult fill(CUdeviceptr address, unsigned char byte, size_t size, CUstream stream)
{
    (void)stream;
    const CUresult broken = gpu_next_fault(__func__);
    if (broken)
        return broken;
    enter();
    memset((void *)(uintptr_t)address, byte, size);
    return leave();
}

static CUresult upload(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
    (void)stream;
    const CUresult broken = gpu_next_fault(__func__);
    if (broken)
        return broken;
    enter();
    largest_copy = size > largest_copy ? size : largest_copy;
    memcpy((void *)(uintptr_t)to, from, size);
    return leave();
}

static CUresult download(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
    (void)stream;
    const CUresult broken = gpu_next_fault(__func__);
    if (broken)
        return broken;
    enter();
    largest_copy = size > largest_copy ? size : largest_copy;
    memcpy(to, (const void *)(uintptr_t)from, size);
    return leave();
}

static CUresult host_alloc(void **memory, size_t size, unsigned flags)
{
    (void)flags;
    const CUresult broken = gpu_next_fault(__func__);
    if (broken)
        return broken;
    enter();
    *memory = calloc(1, size);
    return leave();
}

static CUresult host_free(void *memory)
{
    const CUresult broken = gpu_next_fault(__func__);
    if (cuda_class_of(broken) == CUDA_CLASS_TRANSIENT)
        return broken;
    enter();
    free(memory);
    leave();
    return broken; /* it is gone all the same */
}

static CUresult host_register(void *memory, size_t size, unsigned flags)
{
    (void)memory, (void)size, (void)flags;
    const CUresult broken = gpu_next_fault(__func__);
    if (broken)
        return broken;
    enter();
    return leave();
}

static CUresult host_unregister(void *memory)
{
    (void)memory;
    const CUresult broken = gpu_next_fault(__func__);
    enter();
    ck_assert(gpu_is_dead() ||
              __atomic_load_n(&gpu_present, __ATOMIC_SEQ_CST) == 0); /* else it would wait for the kernels */
    leave();
    return broken; /* it is gone all the same */
}

static CUresult device_pointer(CUdeviceptr *address, void *memory, unsigned flags)
{
    (void)flags;
    const CUresult broken = gpu_next_fault(__func__);
    if (broken)
        return broken;
    enter();
    *address = (CUdeviceptr)(uintptr_t)memory;
    return leave();
}

static CUresult default_pool(CUmemoryPool *pool, CUdevice device)
{
    (void)device;
    *pool = NULL;
    return CUDA_SUCCESS;
}

static CUresult set_pool(CUmemoryPool pool, CUmemPool_attribute which, void *value)
{
    (void)pool, (void)which, (void)value;
    return CUDA_SUCCESS;
}

static CUresult get_pool(CUmemoryPool pool, CUmemPool_attribute which, void *value)
{
    (void)pool;
    enter();
    const uint64_t kept = pool_kept < pool_reserved ? pool_kept : pool_reserved;
    *(cuuint64_t *)value =
        which == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT ? pool_reserved : pool_reserved - kept;
    return leave();
}

static CUresult trim_pool(CUmemoryPool pool, size_t keep)
{
    (void)pool, (void)keep;
    enter();
    ck_assert(gpu_is_dead() ||
              __atomic_load_n(&gpu_present, __ATOMIC_SEQ_CST) == 0); /* else it would wait for the kernels */
    pool_reserved -= pool_kept < pool_reserved ? pool_kept : pool_reserved;
    pool_kept = 0;
    return leave();
}

/* What was copied in a stream has arrived when the call returns: only kernels keep an event waiting. */
static CUresult event_create(CUevent *event, unsigned flags)
{
    (void)flags;
    const CUresult broken = gpu_next_fault(__func__);
    if (broken)
        return broken;
    enter();
    *event = calloc(1, sizeof **event);
    return leave();
}

static CUresult event_destroy(CUevent event)
{
    const CUresult broken = gpu_next_fault(__func__);
    enter();
    free(event);
    leave();
    return broken; /* it is gone all the same */
}

static CUresult event_record(CUevent event, CUstream stream)
{
    const CUresult broken = gpu_next_fault(__func__);
    if (broken)
        return broken;
    enter();
    event->behind = stream && __atomic_load_n(&stream->busy, __ATOMIC_ACQUIRE) ? stream : NULL;
    event->passed_ns = gyre_clock_ns();
    return leave();
}

static CUresult event_elapsed(float *milliseconds, CUevent first, CUevent last)
{
    CUresult result = CUDA_SUCCESS;
    const CUresult broken = gpu_next_fault(__func__);
    if (broken)
        return broken;
    enter();
    if (last->behind && __atomic_load_n(&last->behind->busy, __ATOMIC_ACQUIRE))
        result = CUDA_ERROR_NOT_READY;
    else
        *milliseconds =
            (float)((last->behind ? last->behind->left_ns : last->passed_ns) - first->passed_ns) / 1e6f;
    leave();
    return result;
}

static CUresult event_synchronize(CUevent event)
{
    (void)event;
    const CUresult broken = gpu_next_fault(__func__);
    if (broken)
        return broken;
    enter();
    return leave();
}

static CUresult error_text(CUresult result, const char **text)
{
    (void)result;
    *text = "of the test's driver";
    return CUDA_SUCCESS;
}

const struct cuda_driver gpu_driver = {
    .cuGetErrorName = error_text,
    .cuGetErrorString = error_text,
    .cuCtxGetCurrent = get_current,
    .cuCtxSetCurrent = set_current,
    .cuStreamCreate = stream_create,
    .cuStreamDestroy = stream_destroy,
    .cuStreamQuery = stream_query,
    .cuStreamSynchronize = stream_synchronize,
    .cuModuleGetFunction = get_function,
    .cuFuncSetAttribute = set_attribute,
    .cuOccupancyMaxActiveBlocksPerMultiprocessor = occupancy,
    .cuLaunchCooperativeKernel = launch,
    .cuMemAllocAsync = memory_new,
    .cuMemFreeAsync = memory_free,
    .cuMemsetD8Async = fill,
    .cuMemcpyHtoDAsync = upload,
    .cuMemcpyDtoHAsync = download,
    .cuEventCreate = event_create,
    .cuEventDestroy = event_destroy,
    .cuEventRecord = event_record,
    .cuEventSynchronize = event_synchronize,
    .cuEventElapsedTime = event_elapsed,
    .cuMemHostAlloc = host_alloc,
    .cuMemFreeHost = host_free,
    .cuMemHostRegister = host_register,
    .cuMemHostUnregister = host_unregister,
    .cuMemHostGetDevicePointer = device_pointer,
    .cuDeviceGetDefaultMemPool = default_pool,
    .cuMemPoolSetAttribute = set_pool,
    .cuMemPoolGetAttribute = get_pool,
    .cuMemPoolTrimTo = trim_pool,
    .version = 13000,
    .path = "libcuda of the test",
};
