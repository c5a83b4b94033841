/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU backend's table of operations. Its kernels run in worker threads of the calling process. It is the
 * embedded default, and the simulator for people without a GPU. Launching is in cpu_launch.c, the workers'
 * loop in cpu_worker.c.
 */
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/check/cpu_check.h"
#include "backends/cpu/compile/cpu_compile.h"
#include "backends/cpu/compile/cpu_compiler.h"
#include "backends/cpu/workers/cpu_launch.h"
#include "backends/cpu/cpu_memory.h"
#include "backends/cpu/compile/cpu_module.h"
#include "backends/cpu/threads/cpu_pool.h"
#include "backends/cpu/threads/cpu_relief.h"
#include "backends/cpu/threads/cpu_seat.h"
#include "backends/cpu/cpu_settings.h"
#include "backends/cpu/threads/cpu_spread.h"
#include "backends/cpu/check/cpu_turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "gyre/waiting.h"

enum {
    LANES_MAX = 1024,
    BLOCKS_MAX = 1024,
    LANES_DEFAULT = 32,
    GPU_LANES_DEFAULT = 512, /* those of the backend cuda */
    GPU_LANES_DEFAULT_LEAST = 128,
    SCORE = 10
};
#define SCRATCH_MAX (UINT64_C(1) << 20)

static gyre_status cpu_probe(const gyre_probe_desc *desc, gyre_probe_info *info)
{
    struct cpu_settings settings;
    gyre_status status = cpu_settings_read(desc->host, desc->parameters, desc->parameter_count, &settings);
    if (status != GYRE_OK)
        return status;
    info->score = SCORE;
    info->device_count = 1;
    snprintf(info->library, sizeof info->library, "none needed");
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    snprintf(info->summary, sizeof info->summary, "worker threads on %ld processor%s", processors,
             processors == 1 ? "" : "s");
    info->fingerprint[0] = '\0';
    return GYRE_OK;
}

/* Frees what was made of a device. No kernel is left. */
static void free_device(gyre_device *device)
{
    cpu_relief_close(device->relief);
    cpu_pool_destroy(device->pool); /* no thread is left that knows a seat */
    cpu_relief_destroy(device->relief);
    cpu_seats_destroy(device->seats);
    cpu_turns_close(device);
    cpu_check_close(device);
    free(device);
}

static gyre_status make_threads(gyre_device *device)
{
    device->pool = cpu_pool_create(device->host, CPU_WORKER_STACK_SIZE + device->settings.lane_stack_size);
    if (device->pool) {
        device->seats = cpu_seats_create(cpu_pool_processors(device->pool));
        device->relief = cpu_relief_create(device->pool, gyre_barrier_register());
    }
    if (device->pool && device->seats && device->relief)
        return GYRE_OK;
    return device->host->error(GYRE_EXHAUSTED, "no memory for the threads of the cpu device");
}

static gyre_status cpu_device_open(const gyre_device_desc *desc, gyre_device **out)
{
    *out = NULL;
    if (desc->ordinal != 0)
        return desc->host->error(GYRE_INVALID, "the cpu backend has one device, 0; found device %u",
                                 desc->ordinal);
    gyre_device *device = calloc(1, sizeof *device);
    if (!device)
        return desc->host->error(GYRE_EXHAUSTED, "no memory for the cpu device");
    device->host = desc->host;
    gyre_status status =
        cpu_settings_read(desc->host, desc->parameters, desc->parameter_count, &device->settings);
    if (status == GYRE_OK)
        status = make_threads(device);
    if (status == GYRE_OK)
        status = cpu_check_open(device);
    if (status == GYRE_OK)
        status = cpu_turns_open(device);
    if (status != GYRE_OK) {
        free_device(device);
        return status;
    }
    if (device->settings.spread)
        device->settings.pin_count = (uint32_t)cpu_spread(device->host, device->settings.pins, CPU_PIN_MAX);
    *out = device;
    return GYRE_OK;
}

static void cpu_device_close(gyre_device *device)
{
    if (device)
        free_device(device);
}

/*
 * Hashes a line by FNV-1a. The names of the instruction sets that -march=native may use are part of the key
 * of compiled kernels.
 */
static uint64_t hash_line(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* Reads the first processor's name, and a hash of its features. */
static uint64_t read_processor(char *name, size_t size)
{
    char line[4096];
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    FILE *file = fopen("/proc/cpuinfo", "re");
    snprintf(name, size, "processor");
    while (file && fgets(line, sizeof line, file) && line[0] != '\n') {
        char *colon = strchr(line, ':');
        if (!colon)
            continue;
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, "flags", 5) || !strncmp(line, "Features", 8) || !strncmp(line, "model\t", 6) ||
            !strncmp(line, "CPU part", 8))
            hash = hash_line(hash, colon);
        if (!strncmp(line, "model name", 10))
            snprintf(name, size, "%s", colon[1] ? colon + 2 : "");
    }
    if (file)
        fclose(file);
    return hash;
}

static gyre_status cpu_device_info(gyre_device *device, gyre_device_info *info)
{
    struct utsname machine;
    gyre_device_info now = {0};
    uint64_t features = read_processor(now.name, sizeof now.name);
    uname(&machine);
    snprintf(now.architecture, sizeof now.architecture, "%.32s-%016llx", machine.machine,
             (unsigned long long)features);
    cpu_compiler_identity(device, now.compiler, sizeof now.compiler);
    now.memory_size = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    now.unit_count = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    now.lanes_max = LANES_MAX;
    now.blocks_max = BLOCKS_MAX;
    now.lanes_default = LANES_DEFAULT;
    if (device->settings.checks &
        CPU_CHECK_TRAFFIC) { /* it counts what a GPU would do, which has other blocks */
        now.lanes_default = GPU_LANES_DEFAULT;
        now.lanes_default_least = GPU_LANES_DEFAULT_LEAST;
    }
    now.blocks_default = device->settings.threads;
    now.block_lane_multiple = 1;
    now.scratch_max = SCRATCH_MAX;
    now.can_wake = 1;
    now.can_skip = 1;
    now.bridging = GYRE_BRIDGING_BLOCK;
    now.can_seal = 1;
    now.knows_foreign = 1;
    now.knows_links = GYRE_LINKING_YES | GYRE_LINKING_FOREIGN | GYRE_LINKING_TOPICS | GYRE_LINKING_CLIENTS |
                      GYRE_LINKING_CYCLES | GYRE_LINKING_KEYS | GYRE_LINKING_WORDS | GYRE_LINKING_ASKS |
                      GYRE_LINKING_POOLS | GYRE_LINKING_SHARED | GYRE_LINKING_WORKER | GYRE_LINKING_ROUNDS |
                      GYRE_LINKING_TIMES | GYRE_LINKING_LEVELS | GYRE_LINKING_CHOICES |
                      GYRE_LINKING_KEY_CYCLES | GYRE_LINKING_SIDE_LEVELS;
    gyre_device_info_give(info, &now);
    return GYRE_OK;
}

static const gyre_backend_ops cpu_ops = {
    .size = sizeof(gyre_backend_ops),
    .probe = cpu_probe,
    .device_open = cpu_device_open,
    .device_close = cpu_device_close,
    .device_info = cpu_device_info,
    .compile = cpu_compile,
    .module_load = cpu_module_load,
    .module_kernel = cpu_module_kernel,
    .module_release = cpu_module_release,
    .queue_alloc = cpu_queue_alloc,
    .queue_release = cpu_queue_release,
    .memory_alloc = cpu_memory_alloc,
    .memory_release = cpu_memory_release,
    .transfer = cpu_transfer,
    .launch = cpu_launch,
    .wait = cpu_wait,
    .release = cpu_release,
    .get_extension = cpu_extension,
    .memory_address = cpu_memory_address,
    .memory_copy = cpu_memory_copy,
    .help = cpu_help,
};

const gyre_backend_plugin gyre_plugin = {
    .magic = GYRE_ABI_MAGIC,
    .abi_major = GYRE_ABI_MAJOR,
    .abi_minor = GYRE_ABI_MINOR,
    .size = sizeof(gyre_backend_plugin),
    .name = "cpu",
    .build = GYRE_VERSION_TEXT,
    .ops = &cpu_ops,
};
