/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FAKE_OPENCL=far: a device with memory of its own, as a GPU of NVIDIA's driver, made of a processor. What such a
 * device has that PoCL's has not: memory of the host that kernels reach (cl_nv_create_buffer) and a clock of its
 * own. The backend does not take it for a processor, so it does not wake PoCL's threads either, which may sleep
 * through the signal that a command came (opencl_wait.c): whoever waits does it here.
 *
 * One lock, around the one context that is served so.
 */
#include "fake_loader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "gyre/dialect/opencl_module.h"
#include "gyre/waiting.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): parameters are OpenCL's */
enum { NUDGE_NS = 20000000, LOOK_NS = 100000, BASELINE_NS = 2000000 };

static bool far;

__attribute__((constructor)) static void look_at_environment(void)
{
    far = fake_lacks("far");
}

/* ---- what it tells ---- */

void fake_tell_far(cl_device_info what, void *value)
{
    if (what == CL_DEVICE_TYPE)
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    else if (what == CL_DEVICE_SVM_CAPABILITIES)
        *(cl_device_svm_capabilities *)value = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
    else if (what == CL_DEVICE_HOST_UNIFIED_MEMORY)
        *(cl_bool *)value = CL_FALSE;
}

/* ---- memory ---- */

/* A processor's kernels reach whatever memory of the host there is. */
static cl_mem create_reachable(cl_context context, cl_mem_flags flags, cl_bitfield location, size_t size,
                               void *host_pointer, cl_int *code)
{
    (void)location;
    return REAL(clCreateBuffer)(context, flags | CL_MEM_ALLOC_HOST_PTR, size, host_pointer, code);
}

EXPORTED void *clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
    union {
        cl_mem (*function)(cl_context, cl_mem_flags, cl_bitfield, size_t, void *, cl_int *);
        void *address;
    } reachable = {.function = create_reachable};
    if (fake_is_reaching() && strcmp(name, "clCreateBufferNV") == 0)
        return reachable.address;
    return REAL(clGetExtensionFunctionAddressForPlatform)(platform, name);
}

/* ---- the clock ---- */

static uint64_t read_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

static pthread_once_t measured = PTHREAD_ONCE_INIT;
static uint64_t clock_ns, clock_ticks, clock_rate;

static void measure(void)
{
    clock_ns = gyre_clock_ns();
    clock_ticks = read_ticks();
    uint64_t now = clock_ns;
    while (now - clock_ns < BASELINE_NS)
        now = gyre_clock_ns();
    const uint64_t ticks = read_ticks() - clock_ticks;
    if (ticks > 0)
        clock_rate = (uint64_t)((double)(now - clock_ns) / (double)ticks * (double)(UINT64_C(1) << 56));
}

/* Its kernels were compiled for a processor: they read its counter, of which the backend told them nothing. */
EXPORTED cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    if (!far || index != 0 || size != sizeof(gyre_epoch) || !value)
        return REAL(clSetKernelArg)(kernel, index, size, value);
    gyre_epoch told;
    memcpy(&told, value, sizeof told);
    pthread_once(&measured, measure);
    told.time_ns = clock_ns;
    told.ticks = clock_ticks;
    told.tick_rate = clock_rate;
    return REAL(clSetKernelArg)(kernel, index, sizeof told, &told);
}

/* ---- waiting ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cl_context served;
static cl_command_queue nudges;
static _Atomic uint64_t nudged_ns;

EXPORTED cl_context clCreateContext(const cl_context_properties *properties, cl_uint count,
                                    const cl_device_id *devices,
                                    void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                                    void *user_data, cl_int *code)
{
    cl_context context = REAL(clCreateContext)(properties, count, devices, notify, user_data, code);
    if (!context || !far)
        return context;
    pthread_mutex_lock(&lock);
    if (!served) {
        served = context;
        nudges = REAL(clCreateCommandQueue)(context, devices[0], 0, NULL);
    }
    pthread_mutex_unlock(&lock);
    return context;
}

EXPORTED cl_int clReleaseContext(cl_context context)
{
    pthread_mutex_lock(&lock);
    if (served == context) {
        if (nudges)
            REAL(clReleaseCommandQueue)(nudges);
        served = NULL;
        nudges = NULL;
    }
    pthread_mutex_unlock(&lock);
    return REAL(clReleaseContext)(context);
}

/* relaxed: whoever finds that it is time does it, be it two */
static void nudge(void)
{
    const uint64_t now = gyre_clock_ns();
    if (now - atomic_load_explicit(&nudged_ns, memory_order_relaxed) < NUDGE_NS)
        return;
    atomic_store_explicit(&nudged_ns, now, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    if (nudges &&
        clEnqueueMarkerWithWaitList(nudges, 0, NULL, NULL) == CL_SUCCESS) /* wakes `sleepy` kernels, too */
        REAL(clFlush)(nudges);
    pthread_mutex_unlock(&lock);
}

EXPORTED cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t size, void *value, size_t *needed)
{
    if (far)
        nudge();
    const cl_int code = REAL(clGetEventInfo)(event, what, size, value, needed);
    if (code == CL_SUCCESS && what == CL_EVENT_COMMAND_EXECUTION_STATUS && value)
        fake_tell_late(value);
    return code;
}

EXPORTED cl_int clWaitForEvents(cl_uint count, const cl_event *events)
{
    cl_int state = CL_COMPLETE;
    for (cl_uint i = 0; i < count && far; i++)
        while (clGetEventInfo(events[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL) ==
                   CL_SUCCESS &&
               state > CL_COMPLETE)
            nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    return REAL(clWaitForEvents)(count, events);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
