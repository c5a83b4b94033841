/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of the driver made of software: each has a thread that does one operation after the other, a moment after
 * the call. Memory that the driver knows is read and written when the stream comes to it; other memory of the host
 * is copied at the call where it is a source.
 *
 * Takes driver.lock, not while an operation runs. After a fault what stands in streams is dropped.
 */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define QUEUES    4     /* streams that need no more hardware queues than a context has to begin with */
#define MOMENT_NS 20000 /* that calls which return at once are ahead of the device */

struct CUstream_st {
    struct CUctx_st *context;
    struct operation *first, **last;
    bool started, works, closing; /* started: has a thread, from its first command on at the latest */
};

struct CUevent_st {
    struct CUctx_st *context;
    bool timed, recorded, destroyed;
    uint32_t pending;
    uint64_t time_ns;
};

/* ---- the thread ---- */

static void free_operation(struct operation *operation)
{
    free(operation->staged);
    free((void *)(uintptr_t)operation->launch.arguments);
    free(operation);
}

/* driver.lock held. NULL: the stream was destroyed, and has done everything. */
static struct operation *take_operation(struct CUstream_st *stream)
{
    while (!stream->first && !stream->closing)
        pthread_cond_wait(&driver.changed, &driver.lock);
    struct operation *operation = stream->first;
    if (!operation)
        return NULL;
    stream->first = operation->next;
    if (!stream->first)
        stream->last = &stream->first;
    stream->works = true;
    return operation;
}

static void *work(void *argument)
{
    struct CUstream_st *stream = argument;
    struct operation *operation;
    pthread_mutex_lock(&driver.lock);
    while ((operation = take_operation(stream)) != NULL) {
        pthread_mutex_unlock(&driver.lock);
        nanosleep(&(struct timespec){0, MOMENT_NS}, NULL);
        if (__atomic_load_n(&driver.fault, __ATOMIC_ACQUIRE) == CUDA_SUCCESS)
            operation->run(operation);
        free_operation(operation);
        pthread_mutex_lock(&driver.lock);
        stream->works = false;
        pthread_cond_broadcast(&driver.changed);
    }
    pthread_mutex_unlock(&driver.lock);
    free(stream);
    return NULL;
}

struct operation *driver_operation(CUstream stream, void (*run)(struct operation *))
{
    struct operation *operation = calloc(1, sizeof *operation);
    if (!operation || !stream) {
        driver_complain(CUDA_ERROR_INVALID_HANDLE, "a call", "the default stream is not modelled");
        abort();
    }
    operation->run = run;
    operation->stream = stream;
    return operation;
}

/* driver.lock held. Gives the stream its thread, if it has none yet. */
static bool start_stream(struct CUstream_st *stream)
{
    pthread_t thread;
    if (stream->started)
        return true;
    stream->started = pthread_create(&thread, NULL, work, stream) == 0;
    if (stream->started)
        pthread_detach(thread);
    return stream->started;
}

void driver_submit(struct operation *operation)
{
    struct CUstream_st *stream = operation->stream;
    pthread_mutex_lock(&driver.lock);
    if (!start_stream(stream)) /* the device works no more */
        __atomic_store_n(&driver.fault, CUDA_ERROR_OUT_OF_MEMORY, __ATOMIC_RELEASE);
    *stream->last = operation;
    stream->last = &operation->next;
    pthread_cond_broadcast(&driver.changed);
    pthread_mutex_unlock(&driver.lock);
}

static bool is_idle(const struct CUstream_st *stream)
{
    return !stream->first && !stream->works;
}

CUresult driver_await_stream(CUstream stream, const char *call)
{
    struct patience patience = {0};
    while (!is_idle(stream) && driver.fault == CUDA_SUCCESS)
        driver_await_change(&patience, call, "a stream");
    return driver_fault(call);
}

/* ---- streams ---- */

/* As on an H100: where the streams need more hardware queues, making one blocks while a kernel is resident. */
static CUresult await_queue(struct CUctx_st *context)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&driver.lock);
    if (context->streams >= QUEUES)
        result = driver_await_quiet(context, "cuStreamCreate");
    pthread_mutex_unlock(&driver.lock);
    return result;
}

CUresult cuStreamCreate(CUstream *out, unsigned flags)
{
    struct CUctx_st *context;
    const CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags != CU_STREAM_NON_BLOCKING)
        return driver_complain(CUDA_ERROR_INVALID_VALUE, "cuStreamCreate",
                               "streams that wait for the default stream are not modelled");
    const CUresult blocked = await_queue(context);
    if (blocked != CUDA_SUCCESS)
        return blocked;
    struct CUstream_st *stream = calloc(1, sizeof *stream);
    if (!stream)
        return CUDA_ERROR_OUT_OF_MEMORY;
    stream->context = context;
    stream->last = &stream->first;
    pthread_mutex_lock(&driver.lock);
    const bool able = context->streams > 0 || start_stream(stream); /* the first stream is used at once */
    context->streams += able;
    pthread_mutex_unlock(&driver.lock);
    if (able)
        *out = stream;
    else
        free(stream);
    return able ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* What stands in it is done first; nobody waits for that. */
CUresult cuStreamDestroy(CUstream stream)
{
    struct CUctx_st *context;
    const CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver.lock);
    stream->closing = true;
    stream->context->streams--;
    if (!stream->started)
        free(stream);
    pthread_cond_broadcast(&driver.changed);
    pthread_mutex_unlock(&driver.lock);
    return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream stream)
{
    struct CUctx_st *context;
    const CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver.lock);
    const bool idle = is_idle(stream);
    pthread_mutex_unlock(&driver.lock);
    return idle ? driver_ready(__func__) : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamSynchronize(CUstream stream)
{
    struct CUctx_st *context;
    CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver.lock);
    result = driver_await_stream(stream, "cuStreamSynchronize");
    pthread_mutex_unlock(&driver.lock);
    return result;
}

/* ---- events ---- */

CUresult cuEventCreate(CUevent *out, unsigned flags)
{
    struct CUctx_st *context;
    const CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUevent_st *event = calloc(1, sizeof *event);
    if (!event)
        return CUDA_ERROR_OUT_OF_MEMORY;
    event->context = context;
    event->timed = !(flags & CU_EVENT_DISABLE_TIMING);
    pthread_mutex_lock(&driver.lock);
    context->events++;
    pthread_mutex_unlock(&driver.lock);
    *out = event;
    return CUDA_SUCCESS;
}

/* driver.lock held. */
static void settle_event(struct CUevent_st *event)
{
    if (event->destroyed && event->pending == 0)
        free(event);
}

CUresult cuEventDestroy(CUevent event)
{
    struct CUctx_st *context;
    const CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver.lock);
    event->context->events--;
    event->destroyed = true;
    settle_event(event);
    pthread_mutex_unlock(&driver.lock);
    return CUDA_SUCCESS;
}

static void run_event(struct operation *operation)
{
    struct CUevent_st *event = operation->event;
    pthread_mutex_lock(&driver.lock);
    event->time_ns = driver_now_ns();
    event->recorded = true;
    event->pending--;
    settle_event(event);
    pthread_mutex_unlock(&driver.lock);
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    struct CUctx_st *context;
    const CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS)
        return result;
    struct operation *operation = driver_operation(stream, run_event);
    operation->event = event;
    pthread_mutex_lock(&driver.lock);
    event->pending++;
    pthread_mutex_unlock(&driver.lock);
    driver_submit(operation);
    return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent event)
{
    struct CUctx_st *context;
    struct patience patience = {0};
    CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver.lock);
    while (event->pending > 0 && driver.fault == CUDA_SUCCESS)
        driver_await_change(&patience, "cuEventSynchronize", "a stream");
    result = driver_fault(__func__);
    pthread_mutex_unlock(&driver.lock);
    return result;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to)
{
    struct CUctx_st *context;
    CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver.lock);
    if (from->pending > 0 || to->pending > 0)
        result = CUDA_ERROR_NOT_READY;
    else if (!from->timed || !to->timed || !from->recorded || !to->recorded)
        result = CUDA_ERROR_INVALID_HANDLE;
    else
        *milliseconds = (float)((double)(to->time_ns - from->time_ns) / 1e6);
    pthread_mutex_unlock(&driver.lock);
    return result;
}

/* ---- copies and fills ---- */

static bool is_device(const unsigned char *from, size_t size)
{
    pthread_mutex_lock(&driver.lock);
    const struct memory *memory = driver_memory_find(from, size);
    const bool device = memory && memory->kind == MEMORY_DEVICE && !memory->leaving;
    pthread_mutex_unlock(&driver.lock);
    return device;
}

static bool is_known(const unsigned char *from, size_t size)
{
    pthread_mutex_lock(&driver.lock);
    const bool known = driver_memory_find(from, size) != NULL;
    pthread_mutex_unlock(&driver.lock);
    return known;
}

/* A copy within the device may be a kernel of the driver's own, for which there has to be a unit. */
static void await_unit(struct CUctx_st *context)
{
    struct patience patience = {0};
    pthread_mutex_lock(&driver.lock);
    while (context->units_taken >= driver.units && driver.fault == CUDA_SUCCESS)
        driver_await_change(&patience, "cuMemcpyDtoDAsync", context->newest);
    pthread_mutex_unlock(&driver.lock);
}

static void run_copy(struct operation *operation)
{
    if (operation->within_device) {
        await_unit(operation->stream->context);
        if (!driver_memory_usable(operation->source, operation->size) ||
            !driver_memory_usable(operation->target, operation->size)) {
            driver_break(CUDA_ERROR_ILLEGAL_ADDRESS,
                         "a copy of memory that is not there at this point of its stream");
            return;
        }
    }
    memmove(operation->target, operation->staged ? operation->staged : operation->source, operation->size);
}

static void run_fill(struct operation *operation)
{
    if (driver_memory_usable(operation->target, operation->size))
        memset(operation->target, operation->value, operation->size);
    else
        driver_break(CUDA_ERROR_ILLEGAL_ADDRESS,
                     "a fill of memory that is not there at this point of its stream");
}

/* One side at least is the device's: `device`, which all of it must lie in. */
static CUresult copy(unsigned char *target, const unsigned char *source, size_t size,
                     const unsigned char *device, CUstream stream, const char *call)
{
    struct CUctx_st *context;
    const CUresult result = driver_enter(&context, call);
    if (result != CUDA_SUCCESS || size == 0)
        return result;
    if (!is_device(device, size))
        return driver_complain(CUDA_ERROR_INVALID_VALUE, call, "%zu bytes at %p are no memory of the device",
                               size, (const void *)device);
    struct operation *operation = driver_operation(stream, run_copy);
    operation->target = target;
    operation->source = source;
    operation->size = size;
    if (device == target && !is_known(source, size)) {
        operation->staged = malloc(size);
        if (!operation->staged) {
            free_operation(operation);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        memcpy(operation->staged, source, size);
    }
    driver_submit(operation);
    return CUDA_SUCCESS;
}

static unsigned char *place(CUdeviceptr address)
{
    return (unsigned char *)(uintptr_t)address;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr target, const void *source, size_t size, CUstream stream)
{
    return copy(place(target), source, size, place(target), stream, "cuMemcpyHtoDAsync");
}

/* The real one may return before or after the copy when it does not know the target: here before. */
CUresult cuMemcpyDtoHAsync(void *target, CUdeviceptr source, size_t size, CUstream stream)
{
    return copy(target, place(source), size, place(source), stream, "cuMemcpyDtoHAsync");
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr target, CUdeviceptr source, size_t size, CUstream stream)
{
    struct CUctx_st *context;
    const CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS || size == 0)
        return result;
    if (!is_device(place(target), size) || !is_device(place(source), size))
        return driver_complain(CUDA_ERROR_INVALID_VALUE, "cuMemcpyDtoDAsync",
                               "%zu bytes at %#llx or %#llx are no memory of the device", size,
                               (unsigned long long)target, (unsigned long long)source);
    struct operation *operation = driver_operation(stream, run_copy);
    operation->target = place(target);
    operation->source = place(source);
    operation->size = size;
    operation->within_device = true;
    driver_submit(operation);
    return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t size, CUstream stream)
{
    struct CUctx_st *context;
    const CUresult result = driver_enter(&context, __func__);
    if (result != CUDA_SUCCESS || size == 0)
        return result;
    if (!is_device(place(target), size))
        return driver_complain(CUDA_ERROR_INVALID_VALUE, "cuMemsetD8Async",
                               "%zu bytes at %#llx are no memory of the device", size,
                               (unsigned long long)target);
    struct operation *operation = driver_operation(stream, run_fill);
    operation->target = place(target);
    operation->value = value;
    operation->size = size;
    driver_submit(operation);
    return CUDA_SUCCESS;
}
