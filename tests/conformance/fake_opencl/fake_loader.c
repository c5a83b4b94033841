/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libOpenCL.so.1 before the real one, whose devices lack what FAKE_OPENCL names, separated by commas:
 *
 *   no_f64            cl_khr_fp64
 *   no_i64_atomics    cl_khr_int64_base_atomics and cl_khr_int64_extended_atomics
 *   no_binaries       the driver refuses every binary, as another version's
 *   pocl5, pocl6      the platform says that it is such a PoCL
 *   no_plain          the compiler refuses to go without its optimizer
 *   stumbles          the process's first two builds fail and nothing is said, as PoCL's beside another process's
 *   mute              every build does
 *   few_lanes         kernels run with 256 work-items a group
 *   far               memory of their own: no processors, shared virtual memory is coarse-grained
 *   copied_only       with far: memory of the host that kernels reach; without this word they have
 *                     cl_nv_create_buffer for it
 *   sleepy            a kernel starts only when another command is enqueued, as PoCL's threads may sleep
 *   late              that a command is over is told one time of so many that it is asked for
 *   dies              a kernel's command fails as out of resources, from the third on
 *   book_dies         so does a command of the kernel 'book', from the second on
 *
 * Only what the tests of the backend need. One lock, around the kernels that sleep.
 */
#include "fake_loader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name,readability-function-size): parameters are
 * OpenCL's */
#define REACHING " cl_nv_create_buffer"

enum {
    SLEEPERS_MAX = 4096,
    EVENTS_MAX = 8,
    PARTS_MAX = 8,
    LANES = 256,
    LIVES = 2,
    STUMBLES = 2,
    TOLD_EVERY = 16
};

bool fake_lacks(const char *what)
{
    const char *list = getenv("FAKE_OPENCL");
    const size_t length = strlen(what);
    for (const char *at = list ? strstr(list, what) : NULL; at; at = strstr(at + 1, what))
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

/* ---- what devices tell ---- */

static void forget(char *list, const char *extension)
{
    char *at = strstr(list, extension);
    if (at)
        memset(at, ' ', strlen(extension));
}

bool fake_is_reaching(void)
{
    return fake_lacks("far") && !fake_lacks("copied_only");
}

/* `size` bytes of room in a list that is as long as the device says. */
static void add(char *list, size_t size, const char *extension)
{
    if (strlen(list) + strlen(extension) < size)
        strcat(list, extension);
}

EXPORTED cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value,
                                size_t *needed)
{
    const cl_int code = REAL(clGetDeviceInfo)(device, what, size, value, needed);
    if (code == CL_SUCCESS && what == CL_DEVICE_EXTENSIONS && fake_is_reaching()) {
        if (needed)
            *needed += strlen(REACHING);
        if (value)
            add(value, size, REACHING);
    }
    if (code != CL_SUCCESS || !value)
        return code;
    if (what == CL_DEVICE_EXTENSIONS && fake_lacks("no_f64"))
        forget(value, "cl_khr_fp64");
    if (what == CL_DEVICE_EXTENSIONS && fake_lacks("no_i64_atomics"))
        forget(value, "cl_khr_int64_base_atomics");
    if (fake_lacks("far"))
        fake_tell_far(what, value);
    return code;
}

/* ---- kernels ---- */

EXPORTED cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                         cl_kernel_work_group_info what, size_t size, void *value,
                                         size_t *needed)
{
    const cl_int code = REAL(clGetKernelWorkGroupInfo)(kernel, device, what, size, value, needed);
    if (code == CL_SUCCESS && value && what == CL_KERNEL_WORK_GROUP_SIZE && fake_lacks("few_lanes"))
        *(size_t *)value = LANES;
    return code;
}

/* ---- programs ---- */

/* The compiler's macros say what it supports: they go before the first line, which #line numbers anew. */
EXPORTED cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                              const size_t *sizes, cl_int *code)
{
    const char *parts[PARTS_MAX] = {"\n"};
    cl_uint used = 1;
    if (sizes || count > PARTS_MAX - 4)
        return REAL(clCreateProgramWithSource)(context, count, texts, sizes, code);
    if (fake_lacks("no_f64"))
        parts[used++] = "#undef cl_khr_fp64\n";
    if (fake_lacks("no_i64_atomics"))
        parts[used++] = "#undef cl_khr_int64_base_atomics\n#undef cl_khr_int64_extended_atomics\n";
    for (cl_uint i = 0; i < count; i++)
        parts[used++] = texts[i];
    return REAL(clCreateProgramWithSource)(context, used, parts, NULL, code);
}

EXPORTED cl_program clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                              const size_t *sizes, const unsigned char **binaries,
                                              cl_int *statuses, cl_int *code)
{
    if (!fake_lacks("no_binaries"))
        return REAL(clCreateProgramWithBinary)(context, count, devices, sizes, binaries, statuses, code);
    for (cl_uint i = 0; statuses && i < count; i++)
        statuses[i] = CL_INVALID_BINARY;
    if (code)
        *code = CL_INVALID_BINARY;
    return NULL;
}

EXPORTED cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t size, void *value,
                                  size_t *needed)
{
    const char *said = fake_lacks("pocl5")   ? "OpenCL 3.0 PoCL 5.0"
                       : fake_lacks("pocl6") ? "OpenCL 3.0 PoCL 6.0"
                                             : NULL;
    if (what != CL_PLATFORM_VERSION || !said)
        return REAL(clGetPlatformInfo)(platform, what, size, value, needed);
    if (needed)
        *needed = strlen(said) + 1;
    if (value)
        snprintf(value, size, "%s", said);
    return CL_SUCCESS;
}

EXPORTED cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                               const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                               void *context)
{
    if (options && strstr(options, "-cl-opt-disable") && fake_lacks("no_plain"))
        return CL_INVALID_BUILD_OPTIONS;
    static atomic_uint builds;
    if (fake_lacks("mute") || (fake_lacks("stumbles") && atomic_fetch_add(&builds, 1) < STUMBLES))
        return CL_BUILD_PROGRAM_FAILURE;
    return REAL(clBuildProgram)(program, count, devices, options, notify, context);
}

/* ---- commands ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cl_event sleepers[SLEEPERS_MAX];
static size_t sleeping;
static atomic_uint kernels_run;

/* An event for a kernel to wait for until a marker comes; NULL when there is no more room. */
static cl_event fall_asleep(cl_command_queue queue)
{
    cl_context context;
    cl_event event = NULL;
    if (REAL(clGetCommandQueueInfo)(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL) != CL_SUCCESS)
        return NULL;
    pthread_mutex_lock(&lock);
    if (sleeping < SLEEPERS_MAX)
        event = REAL(clCreateUserEvent)(context, NULL);
    if (event)
        sleepers[sleeping++] = event;
    pthread_mutex_unlock(&lock);
    return event;
}

static void wake_all(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sleeping; i++) {
        REAL(clSetUserEventStatus)(sleepers[i], CL_COMPLETE);
        REAL(clReleaseEvent)(sleepers[i]);
    }
    sleeping = 0;
    pthread_mutex_unlock(&lock);
}

/* Whether this command of the kernel `book` is not its first one. */
static bool book_dies(cl_kernel kernel)
{
    static atomic_uint booked;
    char name[64] = "";
    return fake_lacks("book_dies") &&
           REAL(clGetKernelInfo)(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL) == CL_SUCCESS &&
           strcmp(name, "gyre_epoch_book") == 0 && atomic_fetch_add(&booked, 1) > 0;
}

EXPORTED cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                       const size_t *offset, const size_t *global, const size_t *local,
                                       cl_uint count, const cl_event *events, cl_event *event)
{
    cl_event all[EVENTS_MAX];
    if ((fake_lacks("dies") && atomic_fetch_add(&kernels_run, 1) >= LIVES) || book_dies(kernel))
        return CL_OUT_OF_RESOURCES;
    cl_event sleeper = fake_lacks("sleepy") && count < EVENTS_MAX ? fall_asleep(queue) : NULL;
    if (!sleeper)
        return REAL(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local, count, events,
                                            event);
    if (count)
        memcpy(all, events, count * sizeof all[0]);
    all[count] = sleeper;
    return REAL(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local, count + 1, all,
                                        event);
}

void fake_tell_late(cl_int *state)
{
    static atomic_uint told;
    if (*state == CL_COMPLETE && fake_lacks("late") && atomic_fetch_add(&told, 1) % TOLD_EVERY != 0)
        *state = CL_RUNNING;
}

EXPORTED cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *events,
                                            cl_event *event)
{
    wake_all();
    return REAL(clEnqueueMarkerWithWaitList)(queue, count, events, event);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name,readability-function-size) */
