/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the call that puts a kernel onto the GPU: cuLaunchCooperativeKernel, in put_into_stream, the only
 * launch in this folder. Its caller is cuda_resident_start (cuda_presence.c). Usually the call returns at
 * once while the kernel stays on the GPU.
 *
 * With CUDA_LAUNCH_BLOCKING=1, and under profilers and debuggers that run one kernel at a time, the call does
 * not return before its kernel leaves. Then each kernel has a thread that sits in the call (its launcher),
 * and the kernel's stay is bounded, so that other kernels have their turn.
 *
 * The environment may say whether launches wait. Otherwise the first launch of the process on a device is
 * made from a launcher's thread: if the call returns while its kernel stays, launches do not wait.
 *
 * A thread that is merely late looks like a launch that waits, and its kernel would be taken for gone while
 * it stays. So where launches are known to wait, the thread waits for the stream as well, which costs nothing
 * there.
 *
 * Lock: a launcher's own, not held during calls into the driver; lost_lock (cuda_check.c) inside it.
 */
#include "backends/cuda/cuda_check.h"
#include "backends/cuda/cuda_failure.h"
#include "backends/cuda/cuda_resident.h"
#include "backends/cuda/presence/cuda_serial.h"
#include "backends/cuda/presence/cuda_stays.h"
#include "gyre/lack.h"
#include "gyre/thread.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* a launch that does not wait for its kernel returns after some 10 us */
#define PATIENCE_NS     UINT64_C(100000000)
#define PATIENCE_ROUNDS 100

struct cuda_launcher {
    gyre_resident *resident;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* on the clock of deadlines */
    bool wanted, running, ending;
    bool waits; /* the thread waits for the end of the kernel, even if the launch does not */
};

bool cuda_serial_expected(const gyre_host *host)
{
    const char *value = getenv("CUDA_LAUNCH_BLOCKING");
    if (!value || !value[0] || strcmp(value, "0") == 0)
        return false;
    host->log(
        host->context, GYRE_LOG_WARNING,
        "CUDA_LAUNCH_BLOCKING is set, so a launch waits for its kernel to end: kernels leave and come "
        "back every few milliseconds, and each call into the driver waits for that; unset it for speed");
    return true;
}

static CUresult put_into_stream(gyre_resident *resident)
{
    const struct cuda_driver *driver = resident->device->driver;
    resident->call = "cuMemsetD8Async";
    void *parameters[] = {&resident->arguments};
    CUresult result = driver->cuMemsetD8Async(resident->memory + resident->arrived_offset, 0,
                                              resident->blocks * sizeof(gyre_u64), resident->stream);
    if (result != CUDA_SUCCESS)
        return result;
    cuda_stay_begins(resident);
    resident->call = "cuLaunchCooperativeKernel";
    CUDA_PATIENTLY(result, driver->cuLaunchCooperativeKernel(resident->function, resident->blocks, 1, 1,
                                                             resident->threads, 1, 1, resident->shared_size,
                                                             resident->stream, parameters))
    if (result == CUDA_SUCCESS)
        cuda_stay_ends(resident);
    return result;
}

static void launch_kernel(gyre_resident *resident)
{
    resident->answer = put_into_stream(resident);
}

/* Turns the answer to a launch that returned into a status. */
static gyre_status judge_launch(gyre_resident *resident)
{
    return cuda_check(resident->device, resident->answer, resident->call);
}

/* ---- the thread ---- */

/*
 * Waits for the end of the kernel in its stream. The caller holds the launcher's lock. A transient answer
 * says nothing about the kernel; any other answer is its end.
 */
static void await_kernel(struct cuda_launcher *launcher)
{
    gyre_resident *resident = launcher->resident;
    gyre_device *device = resident->device;
    resident->call = "cuStreamSynchronize";
    do {
        pthread_mutex_unlock(&launcher->lock);
        CUDA_PATIENTLY(resident->answer, device->driver->cuStreamSynchronize(resident->stream))
        if (cuda_class_of(resident->answer) != CUDA_CLASS_TRANSIENT)
            cuda_check_end(device, resident->answer, resident->call);
        pthread_mutex_lock(&launcher->lock);
    } while (cuda_class_of(resident->answer) == CUDA_CLASS_TRANSIENT && !launcher->ending);
}

static void *launch_on_demand(void *argument)
{
    struct cuda_launcher *launcher = argument;
    gyre_resident *resident = launcher->resident;
    pthread_mutex_lock(&launcher->lock);
    for (;;) {
        while (!launcher->wanted && !launcher->ending)
            pthread_cond_wait(&launcher->changed, &launcher->lock);
        if (launcher->ending)
            break;
        launcher->wanted = false;
        pthread_mutex_unlock(&launcher->lock);
        CUresult result;
        CUDA_PATIENTLY(result, resident->device->driver->cuCtxSetCurrent(resident->device->context))
        resident->answer = result;
        resident->call = "cuCtxSetCurrent";
        if (result == CUDA_SUCCESS)
            launch_kernel(resident);
        pthread_mutex_lock(&launcher->lock);
        if (launcher->waits && resident->answer == CUDA_SUCCESS)
            await_kernel(launcher);
        launcher->running = false;
        pthread_cond_broadcast(&launcher->changed);
    }
    pthread_mutex_unlock(&launcher->lock);
    return NULL;
}

static gyre_status make_launcher(gyre_resident *resident)
{
    pthread_condattr_t clock;
    struct cuda_launcher *launcher = calloc(1, sizeof *launcher);
    if (!launcher)
        return resident->device->host->error(GYRE_EXHAUSTED, "no memory to launch a kernel");
    launcher->resident = resident;
    pthread_mutex_init(&launcher->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&launcher->changed, &clock);
    pthread_condattr_destroy(&clock);
    const int error = gyre_thread_start(&launcher->thread, NULL, launch_on_demand, launcher);
    if (!error) {
        resident->launcher = launcher;
        return GYRE_OK;
    }
    pthread_cond_destroy(&launcher->changed);
    pthread_mutex_destroy(&launcher->lock);
    free(launcher);
    return resident->device->host->error(GYRE_EXHAUSTED, "no thread to launch a kernel from: %s%s",
                                         strerror(error), gyre_lack_remedy(error));
}

/*
 * Tells the launcher's thread to launch the kernel, and does not wait for it. Makes the thread when there is
 * none.
 */
static gyre_status start_launcher(gyre_resident *resident)
{
    gyre_status status = resident->launcher ? GYRE_OK : make_launcher(resident);
    if (status != GYRE_OK)
        return status;
    struct cuda_launcher *launcher = resident->launcher;
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): an error of the host is never OK */
    pthread_mutex_lock(&launcher->lock);
    launcher->wanted = launcher->running = true;
    launcher->waits = resident->device->residents->serial;
    pthread_cond_broadcast(&launcher->changed);
    pthread_mutex_unlock(&launcher->lock);
    return GYRE_OK;
}

gyre_status cuda_launcher_await(gyre_resident *resident, uint64_t patience_ns)
{
    struct cuda_launcher *launcher = resident->launcher;
    uint64_t until = resident->device->host->now_ns() + patience_ns;
    struct timespec deadline = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
    int late = 0;
    pthread_mutex_lock(&launcher->lock);
    while (launcher->running && patience_ns && !late)
        late = pthread_cond_timedwait(&launcher->changed, &launcher->lock, &deadline);
    gyre_status status = launcher->running ? GYRE_AGAIN : judge_launch(resident);
    pthread_mutex_unlock(&launcher->lock);
    return status;
}

/*
 * Decides that the launch waits for its kernel, and returns AGAIN: the call will end with the kernel. If the
 * call has returned meanwhile, returns the result of the launch.
 */
static gyre_status keep_launcher(gyre_resident *resident)
{
    struct cuda_launcher *launcher = resident->launcher;
    pthread_mutex_lock(&launcher->lock);
    launcher->waits = launcher->running;
    gyre_status status = launcher->running ? GYRE_AGAIN : judge_launch(resident);
    pthread_mutex_unlock(&launcher->lock);
    return status;
}

void cuda_launcher_destroy(gyre_resident *resident)
{
    struct cuda_launcher *launcher = resident->launcher;
    if (!launcher)
        return;
    pthread_mutex_lock(&launcher->lock);
    launcher->ending = true;
    pthread_cond_broadcast(&launcher->changed);
    pthread_mutex_unlock(&launcher->lock);
    pthread_join(launcher->thread, NULL);
    pthread_cond_destroy(&launcher->changed);
    pthread_mutex_destroy(&launcher->lock);
    free(launcher);
    resident->launcher = NULL;
}

/* ---- which way it is ---- */

/*
 * Makes the first launch on this device, which shows whether launches wait for their kernel. Returns AGAIN if
 * they do.
 */
static gyre_status start_first(gyre_resident *resident)
{
    gyre_device *device = resident->device;
    gyre_status status = start_launcher(resident);
    if (status != GYRE_OK)
        return status;
    status = GYRE_AGAIN;
    for (int round = 0;
         round < PATIENCE_ROUNDS && status == GYRE_AGAIN && !cuda_resident_has_obeyed(resident); round++)
        status = cuda_launcher_await(resident, PATIENCE_NS);
    if (status == GYRE_AGAIN) /* the kernel runs: its call has a moment more to return */
        status = cuda_launcher_await(resident, PATIENCE_NS);
    if (status == GYRE_AGAIN)
        status = keep_launcher(resident);
    device->residents->serial = status == GYRE_AGAIN;
    device->residents->launches_known = status == GYRE_OK;
    if (status == GYRE_OK)
        cuda_launcher_destroy(resident);
    if (status == GYRE_AGAIN)
        device->host->log(
            device->host->context, GYRE_LOG_WARNING,
            "something makes each launch wait for its kernel to end (a profiler or a debugger?): "
            "kernels leave and come back every few milliseconds; run without it for speed");
    return status;
}

gyre_status cuda_serial_start(gyre_resident *resident)
{
    const struct cuda_residents *residents = resident->device->residents;
    gyre_status status;
    if (residents->serial) {
        status = start_launcher(resident);
    } else if (!residents->launches_known) {
        status = start_first(resident);
    } else {
        launch_kernel(resident);
        status = judge_launch(resident);
    }
    return status == GYRE_AGAIN ? GYRE_OK : status;
}
