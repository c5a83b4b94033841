/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcuda.so.1 made of software, over the machine of machine.h: for tests of the CUDA backend where there is no
 * GPU. Its functions are those that the backend looks up, and they do what the real ones were seen to do, the
 * inconvenient things above all: calls that block while a kernel is resident block here too, and a fault stays.
 * It prints to stderr when the program uses it wrongly, or waits for what does not come.
 *
 * This file: starting, devices and contexts, faults, waiting. Takes driver.lock.
 */
#include "driver.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TOTAL_MEMORY   (UINT64_C(2) << 30)
#define SYSTEM_SHARED  1024
#define LONG_NS        UINT64_C(20000000000)
#define LOOK_AGAIN_NS  UINT64_C(1000000000)
#define DRIVER_VERSION 13000

struct driver driver = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Thread_local struct CUctx_st *current;

uint64_t driver_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- what may be called ---- */

CUresult driver_fault(const char *call)
{
    const CUresult fault = __atomic_load_n(&driver.fault, __ATOMIC_ACQUIRE);
    if (fault != CUDA_SUCCESS)
        driver_fail_spreads(call);
    return fault;
}

CUresult driver_ready(const char *call)
{
    const CUresult fault = driver_fault(call);
    if (fault != CUDA_SUCCESS)
        return fault;
    /* a child has its parent's memory and none of its threads: there the real one does not work either */
    return driver.process == getpid() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult driver_begin(const char *call)
{
    const CUresult result = driver_ready(call);
    return result == CUDA_SUCCESS ? driver_fail(call) : result;
}

CUresult driver_enter(struct CUctx_st **context, const char *call)
{
    const CUresult result = driver_begin(call);
    *context = current;
    if (result != CUDA_SUCCESS)
        return result;
    if (!current)
        return driver_complain(CUDA_ERROR_INVALID_CONTEXT, "a call", "no context is current");
    return current->retained ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

struct CUctx_st *driver_device(CUdevice number)
{
    return number >= 0 && number < driver.device_count ? &driver.devices[number] : NULL;
}

CUresult driver_complain(CUresult result, const char *call, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "emulator: %s: %s\n", call, text);
    return result;
}

void driver_break(CUresult result, const char *why)
{
    pthread_mutex_lock(&driver.lock);
    const bool first = !driver.dying;
    __atomic_store_n(&driver.dying, true, __ATOMIC_RELEASE);
    /* who is told of a fault may give memory away at once: nothing touches it then, as on the device */
    while (driver.running > 0)
        pthread_cond_wait(&driver.changed, &driver.lock);
    if (first) {
        fprintf(stderr, "emulator: the device does not work any more: %s\n", why);
        __atomic_store_n(&driver.fault, result, __ATOMIC_RELEASE);
    }
    pthread_cond_broadcast(&driver.changed);
    pthread_mutex_unlock(&driver.lock);
}

/* ---- waiting ---- */

void driver_await_change(struct patience *patience, const char *call, const char *what)
{
    const uint64_t now = driver_now_ns(), until = now + LOOK_AGAIN_NS;
    const struct timespec deadline = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
    if (!patience->since_ns)
        patience->since_ns = patience->told_ns = now;
    if (now - patience->told_ns > LONG_NS) {
        patience->told_ns = now;
        driver_complain(CUDA_SUCCESS, call, "has waited for %s for %.0f s", what,
                        (double)(now - patience->since_ns) / 1e9);
    }
    pthread_cond_timedwait(&driver.changed, &driver.lock, &deadline);
}

CUresult driver_await_quiet(struct CUctx_st *context, const char *call)
{
    struct patience patience = {0};
    while (context->grids > 0 && driver.fault == CUDA_SUCCESS)
        driver_await_change(&patience, call, context->newest);
    return driver_fault(call);
}

/* ---- starting ---- */

static int wish(const char *variable, int otherwise, int most)
{
    const char *wanted = getenv(variable);
    const int count = wanted ? atoi(wanted) : otherwise;
    return count < 0 ? 0 : count > most ? most : count;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[0] && strcmp(value, "0") != 0;
}

static void write_uuid(CUuuid *uuid, int ordinal)
{
    memcpy(uuid->bytes, "software, tests", sizeof uuid->bytes);
    uuid->bytes[15] = (char)('0' + ordinal);
}

/* Whether a word of CUDA_VISIBLE_DEVICES, a number or the beginning of a UUID, means this device. */
static bool is_named(const char *word, size_t length, int ordinal)
{
    char text[48] = "GPU-";
    char *out = text + 4;
    CUuuid uuid;
    if (strncmp(word, "GPU-", 4) != 0)
        return strspn(word, "0123456789") == length && atoi(word) == ordinal;
    write_uuid(&uuid, ordinal);
    for (size_t i = 0; i < sizeof uuid.bytes; i++)
        out += sprintf(out, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
                       (unsigned char)uuid.bytes[i]);
    return strncmp(text, word, length) == 0;
}

/* Those that CUDA_VISIBLE_DEVICES names, up to its first word that no device has; all where it is not set. */
static void show_devices(int count)
{
    const char *word = getenv("CUDA_VISIBLE_DEVICES");
    if (!word) {
        for (; driver.device_count < count; driver.device_count++)
            driver.devices[driver.device_count].ordinal = driver.device_count;
        return;
    }
    while (driver.device_count < count) {
        const size_t length = strcspn(word, ",");
        int ordinal = 0;
        while (ordinal < count && !(length > 0 && is_named(word, length, ordinal)))
            ordinal++;
        if (ordinal == count)
            return;
        driver.devices[driver.device_count++].ordinal = ordinal;
        if (!word[length])
            return;
        word += length + 1;
    }
}

/* EMULATOR_SEEN=FILE gets a line from each program that starts the driver: its name, and how many devices it sees. */
static void tell_seen(void)
{
    const char *path = getenv("EMULATOR_SEEN");
    FILE *file = path && path[0] ? fopen(path, "ae") : NULL;
    if (!file)
        return;
    fprintf(file, "%s %d\n", program_invocation_short_name, driver.device_count);
    fclose(file);
}

static void start(void)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&driver.changed, &clock);
    pthread_condattr_destroy(&clock);
    /* the first is the user's wish, the second makes it so unseen, as a profiler does */
    driver.serial = is_set("CUDA_LAUNCH_BLOCKING") || is_set("EMULATOR_SERIAL");
    show_devices(wish("EMULATOR_DEVICES", 1, DEVICES_MAX));
    tell_seen();
    driver.units = (uint32_t)wish("EMULATOR_UNITS", MACHINE_UNITS, UNITS_MAX);
    driver.process = getpid();
}

CUresult cuInit(unsigned flags)
{
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver.lock);
    if (!driver.process)
        start();
    pthread_mutex_unlock(&driver.lock);
    const CUresult result = driver_begin(__func__);
    return result == CUDA_SUCCESS && driver.device_count == 0 ? CUDA_ERROR_NO_DEVICE : result;
}

CUresult cuDriverGetVersion(int *version)
{
    *version = DRIVER_VERSION;
    return driver_fail(__func__);
}

/* ---- codes ---- */

static const struct {
    CUresult result;
    const char *name, *text;
} codes[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE",
     "CUDA-capable device(s) is/are busy or unavailable"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {CUDA_ERROR_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {CUDA_ERROR_ASSERT, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "too many blocks in cooperative launch"},
    {CUDA_ERROR_SYSTEM_NOT_READY, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
};

static CUresult find_code(CUresult result, size_t *place)
{
    for (*place = 0; *place < sizeof codes / sizeof codes[0]; ++*place)
        if (codes[*place].result == result)
            return CUDA_SUCCESS;
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult result, const char **name)
{
    size_t place;
    const CUresult found = find_code(result, &place);
    *name = found == CUDA_SUCCESS ? codes[place].name : NULL;
    return found;
}

CUresult cuGetErrorString(CUresult result, const char **text)
{
    size_t place;
    const CUresult found = find_code(result, &place);
    *text = found == CUDA_SUCCESS ? codes[place].text : NULL;
    return found;
}

/* ---- devices ---- */

CUresult cuDeviceGetCount(int *count)
{
    *count = driver.device_count;
    return driver_begin(__func__);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return driver_device(ordinal) ? driver_begin(__func__) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    if (!driver_device(device) || size <= 0)
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)size, "software (tests, no GPU)");
    return driver_begin(__func__);
}

/* No machine has this domain, so nothing of a real device is told beside it. */
CUresult cuDeviceGetPCIBusId(char *text, int size, CUdevice device)
{
    if (!driver_device(device) || size <= 0)
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(text, (size_t)size, "EEEE:%02X:00.0", (unsigned)driver_device(device)->ordinal);
    return driver_begin(__func__);
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    if (!driver_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    write_uuid(uuid, driver_device(device)->ordinal);
    return driver_begin(__func__);
}

CUresult cuDeviceTotalMem(size_t *size, CUdevice device)
{
    *size = TOTAL_MEMORY;
    return driver_device(device) ? driver_begin(__func__) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device)
{
    const struct {
        CUdevice_attribute which;
        int value;
    } known[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, MACHINE_CAPABILITY / 10},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, MACHINE_CAPABILITY % 10},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, (int)driver.units},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, MACHINE_SHARED_MAX},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, MACHINE_SHARED_MAX + SYSTEM_SHARED},
        {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
        {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
        {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, 0},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, CU_COMPUTEMODE_DEFAULT},
        {CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, 0},
    };
    if (!driver_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].which == which) {
            *value = known[i].value;
            return driver_begin(__func__);
        }
    return driver_complain(CUDA_ERROR_INVALID_VALUE, "cuDeviceGetAttribute", "attribute %d is not modelled",
                           (int)which);
}

/* ---- contexts ---- */

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice number)
{
    struct CUctx_st *device = driver_device(number);
    const CUresult result = device ? driver_begin(__func__) : CUDA_ERROR_INVALID_DEVICE;
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver.lock);
    device->retained++;
    *context = device;
    pthread_mutex_unlock(&driver.lock);
    return CUDA_SUCCESS;
}

/* The real one frees what is left without a word. */
static void tell_leaks(const struct CUctx_st *context)
{
    const size_t device = driver_memory_count(context, MEMORY_DEVICE);
    const size_t pinned = driver_memory_count(context, MEMORY_PINNED);
    const size_t registered = driver_memory_count(context, MEMORY_REGISTERED);
    if (device || pinned || registered || context->streams || context->events || context->modules)
        driver_complain(CUDA_SUCCESS, "cuDevicePrimaryCtxRelease",
                        "left behind: %zu allocations, %zu of host memory, %zu registrations, %u streams, "
                        "%u events, %u modules",
                        device, pinned, registered, context->streams, context->events, context->modules);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice number)
{
    struct CUctx_st *device = driver_device(number);
    CUresult result = device ? driver_begin(__func__) : CUDA_ERROR_INVALID_DEVICE;
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver.lock);
    if (device->retained == 0)
        result = driver_complain(CUDA_ERROR_INVALID_CONTEXT, "cuDevicePrimaryCtxRelease",
                                 "nobody retains the context");
    else if (device->retained == 1)
        result = driver_await_quiet(device, "cuDevicePrimaryCtxRelease");
    if (result == CUDA_SUCCESS && --device->retained == 0) {
        tell_leaks(device);
        device->stack = 0;
    }
    pthread_mutex_unlock(&driver.lock);
    return result;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    const CUresult result = driver_begin(__func__);
    if (result == CUDA_SUCCESS)
        current = context;
    return result;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = current;
    return driver_begin(__func__);
}
