/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of the template backend, and what has no better place: probe and device. No locks: the core
 * serialises what the contract in backend.h does not call "threads: any", and a device does not change.
 */
#include "solo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The core has checked the keys that it knows; those of this backend are checked here. */
static gyre_status read_parameters(const gyre_host *host, const gyre_parameter *parameters, size_t count,
                                   char *compiler, size_t size)
{
    snprintf(compiler, size, "cc");
    for (size_t i = 0; i < count; i++) {
        const gyre_parameter *parameter = &parameters[i];
        if (strcmp(parameter->key, "compiler") != 0)
            continue;
        if (!parameter->value[0] || strlen(parameter->value) >= size)
            return host->error(GYRE_CONFIG,
                               "%s: backend.solo compiler must be a "
                               "program of 1 to %zu characters, found '%s'",
                               parameter->origin, size - 1, parameter->value);
        snprintf(compiler, size, "%s", parameter->value);
    }
    return GYRE_OK;
}

/*
 * Runs in a child process. A backend with a driver opens its library here (host->library_open), asks for the
 * devices, fills `fingerprint` with the driver's version and `watch` with the files it is made of, and says
 * UNAVAILABLE with what it looked for, where, and what to install. This one can start everywhere.
 */
static gyre_status solo_probe(const gyre_probe_desc *desc, gyre_probe_info *info)
{
    char compiler[sizeof((gyre_device *)0)->compiler];
    gyre_status status =
        read_parameters(desc->host, desc->parameters, desc->parameter_count, compiler, sizeof compiler);
    if (status != GYRE_OK)
        return status;
    info->score = 1; /* below the cpu backend's 10: `auto` prefers that one */
    info->device_count = 1;
    snprintf(info->library, sizeof info->library, "none needed");
    snprintf(info->summary, sizeof info->summary, "one thread a kernel: the template for backend authors");
    return GYRE_OK;
}

static gyre_status solo_device_open(const gyre_device_desc *desc, gyre_device **out)
{
    *out = NULL;
    if (desc->ordinal != 0)
        return desc->host->error(GYRE_INVALID, "the solo backend has one device, 0; found device %u",
                                 desc->ordinal);
    gyre_device *device = calloc(1, sizeof *device);
    if (!device)
        return desc->host->error(GYRE_EXHAUSTED, "no memory for the solo device");
    device->host = desc->host;
    gyre_status status = read_parameters(desc->host, desc->parameters, desc->parameter_count,
                                         device->compiler, sizeof device->compiler);
    if (status != GYRE_OK) {
        free(device);
        return status;
    }
    solo_identify_compiler(device);
    *out = device;
    return GYRE_OK;
}

static void solo_device_close(gyre_device *device)
{
    free(device);
}

/* The core that loads this plugin may be of an older minor version and have no room for every member. */
static gyre_status solo_device_info(gyre_device *device, gyre_device_info *info)
{
    struct utsname machine;
    gyre_device_info now = {.unit_count = 1,
                            .lanes_max = 1, /* a block of one lane is never at a barrier with anybody */
                            .lanes_default = 1,
                            .blocks_max = SOLO_BLOCKS_MAX,
                            .blocks_default = 1,
                            .block_lane_multiple = 1,
                            .scratch_max = SOLO_SCRATCH_MAX,
                            .can_wake = 1,
                            .can_seal = 1,
                            .knows_foreign = 1};
    uname(&machine);
    snprintf(now.name, sizeof now.name, "one thread a kernel");
    snprintf(now.architecture, sizeof now.architecture, "solo-%.32s", machine.machine);
    snprintf(now.compiler, sizeof now.compiler, "%s", device->compiler_identity);
    now.memory_size = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    gyre_device_info_give(info, &now);
    return GYRE_OK;
}

/* The optional slots `notify` and `get_extension` stay NULL: the core then does what backend.h says. */
static const gyre_backend_ops solo_ops = {
    .size = sizeof(gyre_backend_ops),
    .probe = solo_probe,
    .device_open = solo_device_open,
    .device_close = solo_device_close,
    .device_info = solo_device_info,
    .compile = solo_compile,
    .module_load = solo_module_load,
    .module_kernel = solo_module_kernel,
    .module_release = solo_module_release,
    .queue_alloc = solo_queue_alloc,
    .queue_release = solo_queue_release,
    .memory_alloc = solo_memory_alloc,
    .memory_release = solo_memory_release,
    .transfer = solo_transfer,
    .launch = solo_launch,
    .wait = solo_wait,
    .release = solo_release,
    .memory_address = solo_memory_address,
};

/* What the core reads and judges before it calls anything. The name is the one of [backend.solo]. */
const gyre_backend_plugin gyre_plugin = {
    .magic = GYRE_ABI_MAGIC,
    .abi_major = GYRE_ABI_MAJOR,
    .abi_minor = GYRE_ABI_MINOR,
    .size = sizeof(gyre_backend_plugin),
    .name = "solo",
    .build = "1.0",
    .ops = &solo_ops,
};
