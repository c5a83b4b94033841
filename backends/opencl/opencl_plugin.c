/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OpenCL backend's table of operations and its probe. Requests are handled in epochs: each epoch is a
 * batch that one enqueued kernel handles, on any device that an ICD loader finds. No state. The probe makes
 * no context.
 */
#include "backends/opencl/compile/opencl_compile.h"
#include "backends/opencl/opencl_device.h"
#include "backends/opencl/residents/opencl_launch.h"
#include "backends/opencl/opencl_memory.h"
#include "backends/opencl/compile/opencl_module.h"
#include "backends/opencl/opencl_settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    SCORE_CPU = 5,
    SCORE_OTHER = 50
}; /* a processor's score is below the CPU backend's, another device's below CUDA's */

/* ---- probe ---- */

__attribute__((format(printf, 2, 3))) static void say(gyre_probe_info *info, const char *format, ...)
{
    size_t used = strlen(info->summary);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(info->summary + used, sizeof info->summary - used, format, arguments);
    va_end(arguments);
}

static void say_device(gyre_probe_info *info, const gyre_device *device)
{
    say(info, "%s%u: %s (%s), %u unit%s", device->ordinal ? "; " : "", device->ordinal, device->name,
        device->platform_name, device->unit_count, device->unit_count == 1 ? "" : "s");
}

/* Returns OK when a device can run kernels; otherwise the reason why the last device cannot. */
static gyre_status probe_devices(const gyre_probe_desc *desc, const struct opencl_loader *cl,
                                 const struct opencl_places *places, gyre_probe_info *info)
{
    gyre_status reason = GYRE_OK;
    bool usable = false;
    info->score = SCORE_CPU;
    for (uint32_t i = 0; i < places->matching_count; i++) {
        gyre_device device = {.host = desc->host, .cl = cl, .ordinal = i};
        gyre_status status = opencl_device_describe(&device, &places->matching[i]);
        if (status != GYRE_OK) {
            reason = status;
            continue;
        }
        say_device(info, &device);
        usable = true;
        if (!(device.type & CL_DEVICE_TYPE_CPU))
            info->score = SCORE_OTHER;
        if (!info->fingerprint[0])
            snprintf(info->fingerprint, sizeof info->fingerprint, "%.80s, driver %.30s",
                     device.platform_version, device.driver);
    }
    info->device_count = places->matching_count;
    return usable ? GYRE_OK : reason;
}

static gyre_status opencl_probe(const gyre_probe_desc *desc, gyre_probe_info *info)
{
    struct opencl_settings settings;
    struct opencl_places places;
    const struct opencl_loader *cl;
    snprintf(info->watch, sizeof info->watch,
             "%.200s:/etc/ld.so.cache:/proc/driver/nvidia/version:$OCL_ICD_VENDORS:$OPENCL_VENDOR_PATH:"
             "$OCL_ICD_FILENAMES:$POCL_DEVICES:$LD_LIBRARY_PATH:$CUDA_VISIBLE_DEVICES",
             opencl_vendors_path());
    gyre_status status = opencl_settings_read(desc->host, desc->parameters, desc->parameter_count, &settings);
    if (status == GYRE_OK)
        status = opencl_loader_open(desc->host, &cl);
    if (status != GYRE_OK)
        return status;
    snprintf(info->library, sizeof info->library, "%s", cl->path);
    opencl_dropped_platforms(desc->host, info->notes, sizeof info->notes);
    status = opencl_places_find(desc->host, cl, true, &settings, &places);
    return status == GYRE_OK ? probe_devices(desc, cl, &places, info) : status;
}

/* ---- the table ---- */

static const gyre_backend_ops opencl_ops = {
    .size = sizeof(gyre_backend_ops),
    .probe = opencl_probe,
    .device_open = opencl_device_open,
    .device_close = opencl_device_close,
    .device_info = opencl_device_info,
    .compile = opencl_compile,
    .module_load = opencl_module_load,
    .module_kernel = opencl_module_kernel,
    .module_release = opencl_module_release,
    .queue_alloc = opencl_queue_alloc,
    .queue_release = opencl_queue_release,
    .memory_alloc = opencl_memory_alloc,
    .memory_release = opencl_memory_release,
    .transfer = opencl_transfer,
    .launch = opencl_launch,
    .wait = opencl_wait,
    .release = opencl_release,
    .memory_address = opencl_memory_address,
    .memory_copy = opencl_memory_copy,
};

const gyre_backend_plugin gyre_plugin = {
    .magic = GYRE_ABI_MAGIC,
    .abi_major = GYRE_ABI_MAJOR,
    .abi_minor = GYRE_ABI_MINOR,
    .size = sizeof(gyre_backend_plugin),
    .name = "opencl",
    .build = GYRE_VERSION_TEXT,
    .ops = &opencl_ops,
};
