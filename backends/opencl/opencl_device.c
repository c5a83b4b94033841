/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens and closes a device, and finds out its features. Takes no lock: the core opens one device at a time.
 * A failed opening leaves no context behind.
 */
#include "backends/opencl/opencl_device.h"
#include "backends/opencl/opencl_check.h"
#include "backends/opencl/platforms/opencl_pocl.h"
#include "backends/opencl/opencl_settings.h"
#include "backends/opencl/epochs/opencl_stage.h"
#include "backends/opencl/platforms/opencl_text.h"
#include "backends/opencl/opencl_wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gyre/waiting.h"

enum {
    LANES_MAX = 1024, /* cells of gyre_block_shared */
    BLOCKS_MAX = 65536,
    CPU_LANES = 64, /* lanes of a block by default: as many as handlers for a GPU may count on */
    GPU_LANES = 256,
    GPU_BLOCKS_PER_UNIT = 8,
    OWN_SHARED = 8256 + 64, /* gyre_block_shared of device.h, and its alignment */
    CLOCK_BASELINE_NS = 2000000,
    QUEUE_BYTES_DEFAULT = 512 * 1024, /* for queues whose messages are copied */
    ANCHOR = 64
};

/* ---- what it says ---- */

static uint64_t read_number(const gyre_device *device, cl_device_info what, size_t size)
{
    union {
        cl_uint u32;
        cl_ulong u64;
        size_t size;
    } value = {.u64 = 0};
    if (device->cl->clGetDeviceInfo(device->id, what, size, &value, NULL) != CL_SUCCESS)
        return 0;
    return size == sizeof(cl_uint) ? value.u32 : value.u64;
}
#define NUMBER(device, what, type) read_number((device), (what), sizeof(type))

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (hash ^ '\n') * UINT64_C(0x100000001b3);
}

/* Writes one word that covers everything that the device's binaries depend on. */
static void name_architecture(gyre_device *device)
{
    char version[128];
    opencl_device_text(device->cl, device->id, CL_DEVICE_VERSION, version, sizeof version);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    hash = hash_text(hash, device->platform_name);
    hash = hash_text(hash, device->platform_version);
    hash = hash_text(hash, device->name);
    hash = hash_text(hash, version);
    hash = hash_text(hash, device->driver);
    hash = hash_text(hash, device->options);
    snprintf(device->architecture, sizeof device->architecture, "opencl-%016llx", (unsigned long long)hash);
}

/* Whether the device can store sequences that clients poll: it has fine-grained memory and atomics. */
static bool may_be_direct(const gyre_device *device)
{
    const cl_device_svm_capabilities wanted = CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS;
    const uint64_t found = NUMBER(device, CL_DEVICE_SVM_CAPABILITIES, cl_device_svm_capabilities);
    return (found & wanted) == wanted && NUMBER(device, CL_DEVICE_HOST_UNIFIED_MEMORY, cl_bool) &&
           (device->type & CL_DEVICE_TYPE_CPU);
}

/*
 * Whether the device has shared virtual memory of any kind. Its addresses are the same numbers on host and
 * device, so a message can carry such an address. The host only copies to and from it, so the coarse-grained
 * kind is enough.
 */
static bool has_shared_addresses(const gyre_device *device)
{
    const struct opencl_loader *cl = device->cl;
    return (NUMBER(device, CL_DEVICE_SVM_CAPABILITIES, cl_device_svm_capabilities) &
            (CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER)) &&
           NUMBER(device, CL_DEVICE_ADDRESS_BITS, cl_uint) == 64 && cl->clSVMAlloc && cl->clSVMFree &&
           cl->clSetKernelExecInfo && cl->clSetKernelArgSVMPointer && cl->clEnqueueSVMMemcpy &&
           cl->clEnqueueSVMMemFill;
}

static void choose_options(gyre_device *device)
{
    const uint64_t single = NUMBER(device, CL_DEVICE_SINGLE_FP_CONFIG, cl_device_fp_config);
    const enum opencl_switch optimize = device->settings.optimize_blocks;
    const enum opencl_meeting meeting = opencl_pocl_meeting(device->cl, device->platform);
    device->solo = (device->type & CL_DEVICE_TYPE_CPU) != 0;
    device->plain_blocks = device->solo && (optimize == OPENCL_NO ||
                                            (optimize == OPENCL_AUTO && meeting != OPENCL_MEETS_OPTIMIZED));
    device->lanes_default = device->solo ? CPU_LANES : GPU_LANES;
    if (device->settings.stay || meeting == OPENCL_MEETS_BADLY)
        device->lanes_default = 1;
    snprintf(device->options, sizeof device->options, "-cl-std=CL1.2%s%s%s",
             single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT ? " -cl-fp32-correctly-rounded-divide-sqrt" : "",
             device->direct             ? " -DGYRE_OPENCL_DIRECT"
             : device->create_reachable ? " -DGYRE_OPENCL_REACHES"
                                        : "",
             device->settings.stay ? " -DGYRE_OPENCL_STAY" : "");
}

static gyre_status check_abilities(const gyre_device *device)
{
    char language[128];
    unsigned major = 0, minor = 0;
    opencl_device_text(device->cl, device->id, CL_DEVICE_OPENCL_C_VERSION, language, sizeof language);
    if (sscanf(language, "OpenCL C %u.%u", &major, &minor) != 2 || major * 10 + minor < 12)
        return device->host->error(GYRE_UNAVAILABLE,
                                   "device '%s' compiles '%s'; kernels need OpenCL C 1.2 or newer",
                                   device->name, language);
    if (!NUMBER(device, CL_DEVICE_ENDIAN_LITTLE, cl_bool))
        return device->host->error(GYRE_UNAVAILABLE, "device '%s' is big-endian, which messages are not",
                                   device->name);
    if (!NUMBER(device, CL_DEVICE_COMPILER_AVAILABLE, cl_bool))
        return device->host->error(GYRE_UNAVAILABLE, "device '%s' has no compiler, which kernels need",
                                   device->name);
    return GYRE_OK;
}

gyre_status opencl_device_describe(gyre_device *device, const struct opencl_place *place)
{
    const struct opencl_loader *cl = device->cl;
    device->platform = place->platform;
    device->id = place->device;
    opencl_platform_text(cl, place->platform, CL_PLATFORM_NAME, device->platform_name,
                         sizeof device->platform_name);
    opencl_platform_text(cl, place->platform, CL_PLATFORM_VERSION, device->platform_version,
                         sizeof device->platform_version);
    opencl_device_text(cl, device->id, CL_DEVICE_NAME, device->name, sizeof device->name);
    opencl_device_text(cl, device->id, CL_DRIVER_VERSION, device->driver, sizeof device->driver);
    device->type = NUMBER(device, CL_DEVICE_TYPE, cl_device_type);
    device->memory_size = NUMBER(device, CL_DEVICE_GLOBAL_MEM_SIZE, cl_ulong);
    device->allocation_max = NUMBER(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, cl_ulong);
    device->local_size = NUMBER(device, CL_DEVICE_LOCAL_MEM_SIZE, cl_ulong);
    device->unit_count = (uint32_t)NUMBER(device, CL_DEVICE_MAX_COMPUTE_UNITS, cl_uint);
    device->group_max = (uint32_t)NUMBER(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, size_t);
    return check_abilities(device);
}

/* ---- opening ---- */

static uint64_t read_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

/* The counter, and the clock at the same moment: a thread that is interrupted between the two looks again. */
static uint64_t read_both(uint64_t *ns)
{
    enum { LOOKS = 16 };
    uint64_t nearest = UINT64_MAX, ticks = 0;
    for (int i = 0; i < LOOKS; i++) {
        const uint64_t before = read_ticks(), now = gyre_clock_ns(), apart = read_ticks() - before;
        if (apart >= nearest)
            continue;
        nearest = apart;
        ticks = before + apart / 2;
        *ns = now;
    }
    return ticks;
}

/*
 * Measures how long one tick lasts of the counter that kernels on this processor read. The unit is 2^-56
 * nanoseconds. A counter that is slower than any such one was not measured.
 */
static void measure_clock(gyre_device *device)
{
    static const double longest_tick_ns = 100;
    if (!(device->type & CL_DEVICE_TYPE_CPU) || !read_ticks())
        return;
    device->clock_ticks = read_both(&device->clock_ns);
    uint64_t now = device->clock_ns;
    while (now - device->clock_ns < CLOCK_BASELINE_NS)
        now = gyre_clock_ns();
    const uint64_t ticks = read_both(&now) - device->clock_ticks;
    const double tick_ns = ticks > 0 ? (double)(now - device->clock_ns) / (double)ticks : 0;
    if (tick_ns > 0 && tick_ns < longest_tick_ns)
        device->clock_rate = (uint64_t)(tick_ns * (double)(UINT64_C(1) << 56));
}

/* Whether a write by the device shows in the page under the buffer. */
static bool write_shows(const gyre_device *device, cl_mem memory, const uint64_t *page)
{
    const uint64_t written = UINT64_C(0x1122334455667788);
    cl_event event = NULL;
    cl_int code = device->cl->clEnqueueWriteBuffer(device->service, memory, CL_FALSE, 64, sizeof written,
                                                   &written, 0, NULL, &event);
    return opencl_finish(device, device->service, code, &event) == CL_SUCCESS &&
           __atomic_load_n(&page[8], __ATOMIC_ACQUIRE) == written;
}

/* Whether a buffer over host memory is that memory, and not a copy. */
static bool shares_memory(const gyre_device *device)
{
    const struct opencl_loader *cl = device->cl;
    uint64_t *page = NULL;
    cl_int code;
    if (posix_memalign((void **)&page, 4096, 4096) != 0)
        return false;
    memset(page, 0, 4096);
    cl_mem memory =
        cl->clCreateBuffer(device->context, CL_MEM_USE_HOST_PTR | CL_MEM_READ_WRITE, 4096, page, &code);
    const bool shared = memory && write_shows(device, memory, page);
    if (memory)
        cl->clReleaseMemObject(memory);
    free(page);
    return shared;
}

static gyre_status refuse_stay(const gyre_device *device)
{
    const cl_device_svm_capabilities found =
        NUMBER(device, CL_DEVICE_SVM_CAPABILITIES, cl_device_svm_capabilities);
    const char *lacking = "does not work in the host's memory";
    if (!(found & CL_DEVICE_SVM_FINE_GRAIN_BUFFER))
        lacking = "reports no fine-grained shared virtual memory";
    else if (!(found & CL_DEVICE_SVM_ATOMICS))
        lacking = "reports no atomics in shared virtual memory";
    else if (device->settings.transfer == OPENCL_TRANSFER_STAGED)
        lacking = "is to get copies, as transfer = staged says";
    return device->host->error(
        GYRE_UNAVAILABLE,
        "backend.opencl.mode = resident needs a device that shares memory with the host, "
        "with atomics; device '%s' %s: set mode = epochs",
        device->name, lacking);
}

static gyre_status choose_transfer(gyre_device *device)
{
    device->direct =
        device->settings.transfer != OPENCL_TRANSFER_STAGED && may_be_direct(device) && shares_memory(device);
    if (device->settings.stay && !device->direct)
        return refuse_stay(device);
    if (device->direct || device->settings.transfer != OPENCL_TRANSFER_DIRECT)
        return GYRE_OK;
    return device->host->error(
        GYRE_UNAVAILABLE,
        "backend.opencl.transfer = direct: device '%s' does not work in the host's memory with atomics "
        "(fine-grained shared virtual memory); set it to auto or staged",
        device->name);
}

static gyre_status open_context(gyre_device *device)
{
    cl_int code;
    device->context = device->cl->clCreateContext(NULL, 1, &device->id, NULL, NULL, &code);
    gyre_status status = opencl_check(device, code, "clCreateContext");
    if (status != GYRE_OK)
        return status;
    device->service = device->cl->clCreateCommandQueue(device->context, device->id, 0, &code);
    if (code == CL_SUCCESS && (device->type & CL_DEVICE_TYPE_CPU))
        device->nudges = device->cl->clCreateCommandQueue(device->context, device->id, 0, &code);
    return opencl_check(device, code, "clCreateCommandQueue");
}

static gyre_status open_device(gyre_device *device)
{
    struct opencl_places places = {0};
    gyre_status status = opencl_loader_open(device->host, &device->cl);
    if (status == GYRE_OK)
        status = opencl_places_find(device->host, device->cl, false, &device->settings, &places);
    if (status == GYRE_OK && device->ordinal >= places.matching_count)
        status = device->host->error(GYRE_INVALID, "there %s %u device%s, numbered from 0; found device %u",
                                     places.matching_count == 1 ? "is" : "are", places.matching_count,
                                     places.matching_count == 1 ? "" : "s", device->ordinal);
    if (status == GYRE_OK)
        status = opencl_device_describe(device, &places.matching[device->ordinal]);
    if (status == GYRE_OK)
        status = open_context(device);
    if (status == GYRE_OK)
        status = choose_transfer(device);
    if (status != GYRE_OK)
        return status;
    if (!device->direct && has_shared_addresses(device))
        device->anchor = device->cl->clSVMAlloc(device->context, CL_MEM_READ_WRITE, ANCHOR, 0);
    device->shared_addresses = device->anchor != NULL;
    if (!device->direct && device->settings.transfer != OPENCL_TRANSFER_STAGED)
        opencl_stage_find(device);
    device->pins = !device->direct && device->settings.pin != OPENCL_NO &&
                   (device->settings.pin == OPENCL_YES || !(device->type & CL_DEVICE_TYPE_CPU));
    choose_options(device);
    name_architecture(device);
    measure_clock(device);
    return GYRE_OK;
}

gyre_status opencl_device_open(const gyre_device_desc *desc, gyre_device **out)
{
    *out = NULL;
    gyre_device *device = calloc(1, sizeof *device);
    if (!device)
        return desc->host->error(GYRE_EXHAUSTED, "no memory for an OpenCL device");
    device->host = desc->host;
    device->ordinal = desc->ordinal;
    pthread_mutex_init(&device->lost_lock, NULL);
    gyre_status status =
        opencl_settings_read(desc->host, desc->parameters, desc->parameter_count, &device->settings);
    if (status == GYRE_OK)
        status = open_device(device);
    if (status != GYRE_OK) {
        opencl_device_close(device);
        return status;
    }
    *out = device;
    return GYRE_OK;
}

void opencl_device_close(gyre_device *device)
{
    if (!device)
        return;
    if (device->anchor)
        device->cl->clSVMFree(device->context, device->anchor);
    if (device->nudges)
        device->cl->clReleaseCommandQueue(device->nudges);
    if (device->service)
        device->cl->clReleaseCommandQueue(device->service);
    if (device->context)
        device->cl->clReleaseContext(device->context);
    pthread_mutex_destroy(&device->lost_lock);
    free(device);
}

/* ---- telling ---- */

static uint32_t least_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

gyre_status opencl_device_info(gyre_device *device, gyre_device_info *info)
{
    const bool is_cpu = (device->type & CL_DEVICE_TYPE_CPU) != 0;
    const bool pocl = opencl_is_pocl(device->cl, device->platform);
    const uint32_t units = device->unit_count ? device->unit_count : 1;
    gyre_device_info now = {.memory_size = device->memory_size,
                            .unit_count = units,
                            .lanes_max = least_of(LANES_MAX, device->group_max ? device->group_max : 1),
                            .blocks_max = BLOCKS_MAX,
                            .block_lane_multiple = is_cpu ? 1 : 32,
                            .can_wake = 1,
                            .can_skip = 1,
                            .can_seal = 1,
                            .knows_foreign = 1,
                            .check_first = 1,
                            .queue_bytes_default = device->direct ? 0 : QUEUE_BYTES_DEFAULT,
                            .bridging = device->direct ? GYRE_BRIDGING_BLOCK : GYRE_BRIDGING_QUEUE};
    if (!device->settings.stay)
        now.knows_links = GYRE_LINKING_YES | GYRE_LINKING_FOREIGN | GYRE_LINKING_SLOTS | GYRE_LINKING_HOST |
                          GYRE_LINKING_TOPICS | GYRE_LINKING_CLIENTS | GYRE_LINKING_KEYS |
                          GYRE_LINKING_CYCLES | GYRE_LINKING_WORDS | GYRE_LINKING_ASKS | GYRE_LINKING_POOLS |
                          GYRE_LINKING_SHARED | GYRE_LINKING_WORKER | GYRE_LINKING_ROUNDS |
                          GYRE_LINKING_LEVELS | GYRE_LINKING_CHOICES | GYRE_LINKING_TIMES |
                          GYRE_LINKING_KEY_CYCLES | GYRE_LINKING_SIDE_LEVELS;
    now.lanes_default = least_of(device->lanes_default, now.lanes_max);
    now.blocks_default = is_cpu ? units : GPU_BLOCKS_PER_UNIT * units;
    if (device->settings.stay) { /* one processor is left for transfers, and no bells are rung */
        now.blocks_max = units > 1 ? units - 1 : 1;
        now.blocks_default = 1;
        now.can_wake = 0;
    }
    now.scratch_max = device->local_size > OWN_SHARED ? device->local_size - OWN_SHARED : 0;
    snprintf(now.name, sizeof now.name, "%s", device->name);
    snprintf(now.architecture, sizeof now.architecture, "%s", device->architecture);
    snprintf(now.compiler, sizeof now.compiler, "%.70s, driver %.40s%s%.15s, %.100s",
             device->platform_version, device->driver, pocl ? ", work-groups by " : "",
             pocl ? opencl_pocl_method() : "", device->options);
    gyre_device_info_give(info, &now);
    return GYRE_OK;
}
