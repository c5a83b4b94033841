/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens and closes a device: a GPU of the driver with its primary context, or a device that only compiles.
 * All users of the vendor's run-time library in the program share the primary context. Takes no lock: the
 * core opens one device at a time. A failed opening leaves no context behind.
 */
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/cuda_check.h"
#include "backends/cuda/memory/cuda_combine.h"
#include "backends/cuda/compile/cuda_compile.h"
#include "backends/cuda/driver/cuda_context.h"
#include "backends/cuda/cuda_device.h"
#include "backends/cuda/residents/cuda_residents.h"
#include "backends/cuda/cuda_settings.h"
#include "backends/cuda/memory/cuda_transfer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    CAPABILITY_MIN = 7, /* the first capability with ordered loads and stores of system scope */
    RESIDENCY_WATCHED_MS = 500
};
#define WSL_DEVICE "/dev/dxg"

/*
 * Bytes of shared memory that one block can have, by compute capability. For devices that only compile: no
 * driver can be asked.
 */
static uint32_t shared_size_of(int major, int minor)
{
    static const struct {
        int major, minor;
        uint32_t kibibytes;
    } known[] = {{7, 0, 96}, {7, 5, 64},  {8, 0, 163},  {8, 6, 99},   {8, 7, 163},
                 {8, 9, 99}, {9, 0, 227}, {10, 0, 227}, {10, 3, 227}, {11, 0, 227}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].major == major && known[i].minor == minor)
            return known[i].kibibytes * 1024;
    return 99 * 1024; /* the least of all capabilities since 8.0 */
}

static gyre_status read_attribute(gyre_device *device, CUdevice_attribute which, uint32_t *value)
{
    int found = 0;
    gyre_status status = cuda_check(
        device, device->driver->cuDeviceGetAttribute(&found, which, device->handle), "cuDeviceGetAttribute");
    *value = found > 0 ? (uint32_t)found : 0;
    return status;
}

/*
 * Chooses the longest stay of a kernel. The driver's watchdog ends a kernel after some two seconds, and a
 * handler that runs when the kernel is told to leave may take most of that time.
 */
static uint32_t choose_residency(const gyre_device *device)
{
    if (device->settings.residency_ms != CUDA_RESIDENCY_AUTO)
        return device->settings.residency_ms;
    return device->watchdog || device->wsl ? RESIDENCY_WATCHED_MS : 0;
}

static gyre_status read_attributes(gyre_device *device)
{
    uint32_t major = 0, minor = 0, cooperative = 0, can_map = 0, pools = 0, watchdog = 0, atomics = 0;
    const struct {
        CUdevice_attribute which;
        uint32_t *value;
    } wanted[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &device->sm_count},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &device->shared_size_max},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &device->shared_size_unit},
        {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, &cooperative},
        {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, &can_map},
        {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, &pools},
        {CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, &watchdog},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, &device->compute_mode},
        {CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, &atomics},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        gyre_status status = read_attribute(device, wanted[i].which, wanted[i].value);
        if (status != GYRE_OK)
            return status;
    }
    device->major = (int)major;
    device->minor = (int)minor;
    device->cooperative = cooperative != 0;
    device->can_map = can_map != 0;
    device->pools = pools != 0;
    device->watchdog = watchdog != 0;
    device->native_atomics = atomics != 0;
    device->sm_total = device->sm_count;
    device->wsl = access(WSL_DEVICE, F_OK) == 0;
    device->residency_ms = choose_residency(device);
    snprintf(device->architecture, sizeof device->architecture, "sm_%u%u", major, minor);
    return GYRE_OK;
}

static gyre_status check_abilities(const gyre_device *device)
{
    if (device->compute_mode == CU_COMPUTEMODE_PROHIBITED)
        return device->host->error(GYRE_UNAVAILABLE,
                                   "device %u '%s' is in the compute mode 'prohibited', in which it runs "
                                   "nothing; an administrator changes it with `nvidia-smi -c 0`",
                                   device->ordinal, device->name);
    if (device->major < CAPABILITY_MIN)
        return device->host->error(GYRE_UNAVAILABLE,
                                   "device %u '%s' has compute capability %d.%d; "
                                   "resident kernels need %d.0 or newer",
                                   device->ordinal, device->name, device->major, device->minor,
                                   CAPABILITY_MIN);
    if (!device->cooperative || !device->can_map)
        return device->host->error(GYRE_UNAVAILABLE, "device %u '%s' cannot %s, which resident kernels need",
                                   device->ordinal, device->name,
                                   device->cooperative ? "map host memory" : "launch cooperative kernels");
    return GYRE_OK;
}

/* ---- which of the driver's devices ---- */

uint32_t cuda_devices_count(const struct cuda_settings *settings, int count)
{
    uint32_t words = 1;
    if (!settings->devices[0])
        return count > 0 ? (uint32_t)count : 0;
    for (const char *at = settings->devices; *at; at++)
        words += *at == ',';
    return words;
}

/*
 * Writes the UUID as the vendor's tools print it: "GPU-" and 8-4-4-4-12 digits; "" from drivers that do not
 * tell.
 */
static void write_uuid(const struct cuda_driver *driver, CUdevice handle, char text[48])
{
    static const char digits[] = "0123456789abcdef";
    CUuuid uuid;
    char *out = text + sizeof "GPU-" - 1;
    strcpy(text, "GPU-");
    if (!driver->cuDeviceGetUuid || driver->cuDeviceGetUuid(&uuid, handle) != CUDA_SUCCESS) {
        text[0] = '\0';
        return;
    }
    for (size_t i = 0; i < sizeof uuid.bytes; i++) {
        const unsigned char byte = (unsigned char)uuid.bytes[i];
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *out++ = '-';
        *out++ = digits[byte >> 4];
        *out++ = digits[byte & 15];
    }
    *out = '\0';
}

/* Returns the driver's number of the device whose UUID begins with the word, or -1. */
static int find_uuid(const struct cuda_driver *driver, int count, const char *word, size_t length)
{
    for (int i = 0; i < count; i++) {
        CUdevice handle;
        char uuid[48];
        if (driver->cuDeviceGet(&handle, i) != CUDA_SUCCESS)
            continue;
        write_uuid(driver, handle, uuid);
        if (strncasecmp(uuid, word, length) == 0)
            return i;
    }
    return -1;
}

/* Finds the driver's number of the device that has number device->ordinal in the configuration. */
static gyre_status choose_device(const gyre_device *device, int count, int *number)
{
    const char *list = device->settings.devices;
    *number = 0;
    if (device->shown_alone)
        return GYRE_OK;
    const uint32_t known = cuda_devices_count(&device->settings, count);
    if (device->ordinal >= known)
        return device->host->error(known ? GYRE_INVALID : GYRE_UNAVAILABLE,
                                   "there %s %u device%s%s%s, numbered from 0; found device %u",
                                   known == 1 ? "is" : "are", known, known == 1 ? "" : "s",
                                   *list ? " with backend.cuda.device = " : "", list, device->ordinal);
    *number = (int)device->ordinal;
    if (!*list)
        return GYRE_OK;
    size_t length = 0;
    const char *word = cuda_devices_word(list, device->ordinal, &length);
    *number = !word ? -1 : *word == 'G' ? find_uuid(device->driver, count, word, length) : atoi(word);
    if (*number >= 0 && *number < count)
        return GYRE_OK;
    return device->host->error(
        GYRE_UNAVAILABLE,
        "backend.cuda.device names '%.*s'; the driver lists %d device%s: `nvidia-smi -L` "
        "shows their numbers and UUIDs",
        (int)length, word, count, count == 1 ? "" : "s");
}

gyre_status cuda_device_describe(gyre_device *device)
{
    const struct cuda_driver *driver = device->driver;
    int count = 0, number = 0;
    size_t memory_size = 0;
    gyre_status status = cuda_check(device, driver->cuDeviceGetCount(&count), "cuDeviceGetCount");
    if (status == GYRE_OK)
        status = choose_device(device, count, &number);
    if (status == GYRE_OK)
        status = cuda_check(device, driver->cuDeviceGet(&device->handle, number), "cuDeviceGet");
    if (status == GYRE_OK)
        status = cuda_check(device,
                            driver->cuDeviceGetName(device->name, (int)sizeof device->name, device->handle),
                            "cuDeviceGetName");
    if (status == GYRE_OK)
        status =
            cuda_check(device, driver->cuDeviceTotalMem(&memory_size, device->handle), "cuDeviceTotalMem");
    device->memory_size = memory_size;
    if (status == GYRE_OK)
        write_uuid(driver, device->handle, device->uuid);
    if (status == GYRE_OK)
        status = read_attributes(device);
    return status == GYRE_OK ? check_abilities(device) : status;
}

/* ---- opening ---- */

static gyre_status open_compile_only(gyre_device *device)
{
    const char *digits = device->settings.compile_for + 3;
    const int number = atoi(digits); /* "90" and "120": the last digit is the minor version */
    if (device->ordinal != 0)
        return device->host->error(
            GYRE_INVALID, "with backend.cuda.compile_for = %s there is one device, 0; found device %u",
            device->settings.compile_for, device->ordinal);
    device->major = number / 10;
    device->minor = number % 10;
    device->sm_count = 1;
    device->shared_size_max = shared_size_of(device->major, device->minor);
    device->shared_size_unit = device->shared_size_max + (device->major >= 8 ? 1024 : 0);
    snprintf(device->name, sizeof device->name, "compiles only");
    snprintf(device->architecture, sizeof device->architecture, "%s", device->settings.compile_for);
    return GYRE_OK;
}

/* Logs that kernels leave by themselves from time to time, because a user sees that only as gaps. */
static void tell_bound(const gyre_device *device)
{
    char text[512];
    if (!device->residency_ms)
        return;
    snprintf(text, sizeof text,
             "device %u '%s'%s: its kernels leave and come back every %u ms (residency_ms)", device->ordinal,
             device->name,
             device->watchdog ? " drives a display, whose watchdog ends kernels that stay"
             : device->wsl    ? " is Windows' device, whose watchdog ends kernels that stay"
                              : "",
             device->residency_ms);
    device->host->log(device->host->context, GYRE_LOG_INFO, text);
}

static gyre_status open_driver_device(gyre_device *device)
{
    gyre_status status = cuda_driver_open(device->host, device->settings.driver, &device->driver);
    if (status == GYRE_OK)
        status = cuda_device_describe(device);
    if (status == GYRE_OK)
        status = cuda_context_open(device);
    if (status == GYRE_OK)
        status = cuda_residents_open(device);
    if (status == GYRE_OK && device->settings.sms > 0 && device->settings.sms < device->sm_count)
        device->sm_count = device->settings.sms;
    if (status == GYRE_OK)
        tell_bound(device);
    if (status == GYRE_OK && device->settings.emulate)
        device->host->log(
            device->host->context, GYRE_LOG_WARNING,
            "cuda: handlers run on a GPU made of software (backend.cuda.emulate): slowly, and no time is "
            "that of a GPU");
    return status;
}

static gyre_status open_as_set(gyre_device *device, bool alone)
{
    if (device->settings.compile_for[0])
        return open_compile_only(device);
    device->shown_alone = alone && cuda_show_one(&device->settings, device->ordinal);
    return open_driver_device(device);
}

gyre_status cuda_device_open(const gyre_device_desc *desc, gyre_device **out)
{
    *out = NULL;
    gyre_device *device = calloc(1, sizeof *device);
    if (!device)
        return desc->host->error(GYRE_EXHAUSTED, "no memory for a CUDA device");
    device->host = desc->host;
    device->ordinal = desc->ordinal;
    pthread_mutex_init(&device->lock, NULL);
    pthread_mutex_init(&device->lost_lock, NULL);
    pthread_mutex_init(&device->peeks.lock, NULL);
    pthread_mutex_init(&device->peeks.copying, NULL);
    gyre_status status =
        cuda_settings_read(desc->host, desc->parameters, desc->parameter_count, &device->settings);
    if (status == GYRE_OK)
        status = open_as_set(device, desc->alone != 0);
    if (status != GYRE_OK) {
        cuda_device_close(device);
        return status;
    }
    *out = device;
    return GYRE_OK;
}

void cuda_device_close(gyre_device *device)
{
    if (!device)
        return;
    if (device->context) {
        cuda_carriers_destroy(device);
        cuda_combiners_destroy(device);
        cuda_residents_close(device);
        cuda_context_close(device);
    }
    pthread_mutex_destroy(&device->peeks.copying);
    pthread_mutex_destroy(&device->peeks.lock);
    pthread_mutex_destroy(&device->lost_lock);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

/* ---- telling ---- */

enum {
    LANES_MAX = 1024,
    WARP = 32,
    /* small blocks that a multiprocessor may hold; a launch asks the driver for the true number */
    BLOCKS_EACH = 16,
    /* blocks that share the ring of a kernel with messages beyond a line, because one block does not keep
       up with the ring */
    LARGE_BLOCKS = 4,
    LARGE_SHARE = 32,       /* the device has at least this many multiprocessors for each of these blocks */
    OWN_SHARED = 48 * 1024, /* staging and bookkeeping of the resident loop */
    LINKING = GYRE_LINKING_YES | GYRE_LINKING_FOREIGN | GYRE_LINKING_CHANGES | GYRE_LINKING_COPIES |
              GYRE_LINKING_ASKS | GYRE_LINKING_POOLS | GYRE_LINKING_ROUNDS | GYRE_LINKING_LEVELS |
              GYRE_LINKING_CHOICES | GYRE_LINKING_WORKER,
    /* most scratch on any device: a kernel that runs on capability 8.0 runs on later ones */
    SCRATCH_MAX = 160 * 1024
};

/*
 * The default number of blocks of a kernel whose messages exceed a line (a slot for small messages).
 * docs/backends/cuda.md says what more blocks gain.
 */
static uint32_t large_blocks(const gyre_device *device)
{
    const uint32_t share = device->sm_count / LARGE_SHARE;
    return share > LARGE_BLOCKS ? LARGE_BLOCKS : share ? share : 1;
}

gyre_status cuda_device_info(gyre_device *device, gyre_device_info *info)
{
    gyre_device_info now = {.memory_size = device->memory_size,
                            .unit_count = device->sm_count,
                            .can_seal = 1,
                            .knows_foreign = 1,
                            .bridging = GYRE_BRIDGING_QUEUE,
                            .lanes_max = LANES_MAX,
                            .blocks_max = device->sm_count * BLOCKS_EACH,
                            .lanes_default = CUDA_LANES_DEFAULT,
                            .lanes_default_least = CUDA_LANES_DEFAULT_LEAST,
                            .blocks_default = 1,
                            .blocks_default_large = large_blocks(device),
                            .knows_express = 1,
                            .knows_links = LINKING | GYRE_LINKING_SLOTS | GYRE_LINKING_KEYS |
                                           GYRE_LINKING_TOPICS | GYRE_LINKING_WORDS | GYRE_LINKING_CYCLES,
                            .link_slots =
                                4096, /* room comes back by sixteenths, and a run takes 512 messages */
                            .block_lane_multiple = WARP};
    snprintf(now.name, sizeof now.name, "%s", device->name);
    snprintf(now.architecture, sizeof now.architecture, "%s", device->architecture);
    cuda_compiler_identity(device, now.compiler, sizeof now.compiler);
    now.scratch_max = device->shared_size_max > OWN_SHARED ? device->shared_size_max - OWN_SHARED : 0;
    if (now.scratch_max > SCRATCH_MAX)
        now.scratch_max = SCRATCH_MAX;
    if (device->driver) {
        cuda_describe_details(device, now.details, sizeof now.details);
        cuda_describe_limits(device, now.limits, sizeof now.limits);
    }
    gyre_device_info_give(info, &now);
    return GYRE_OK;
}
