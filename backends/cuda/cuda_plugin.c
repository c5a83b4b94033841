/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA backend's table and its probe: kernels stay resident on an NVIDIA GPU and poll the rings in mapped
 * host memory. No state. The probe must not make a context: it takes a tenth of a second and device memory.
 */
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/cuda_check.h"
#include "backends/cuda/compile/cuda_compile.h"
#include "backends/cuda/cuda_device.h"
#include "backends/cuda/residents/cuda_launch.h"
#include "backends/cuda/memory/cuda_memory.h"
#include "backends/cuda/compile/cuda_module.h"
#include "backends/cuda/presence/cuda_order.h"
#include "backends/cuda/memory/cuda_peers.h"
#include "backends/cuda/cuda_settings.h"
#include "backends/cuda/memory/cuda_transfer.h"

#include <stdio.h>
#include <string.h>

enum { SCORE = 100, SCORE_COMPILE_ONLY = 1 };

/* ---- what people are told ---- */

static void say_device(gyre_probe_info *info, const gyre_device *device)
{
    char link[128];
    size_t used = strlen(info->summary);
    cuda_describe_link(device, link, sizeof link);
    snprintf(info->summary + used, sizeof info->summary - used, "%s%u: %s, %s, %u SMs, %.0f GiB%s%s",
             used ? "; " : "", device->ordinal, device->name, device->architecture, device->sm_count,
             (double)device->memory_size / (1024.0 * 1024.0 * 1024.0), link[0] ? ", " : "", link);
}

static void say_compiler(gyre_probe_info *info, const gyre_host *host, const struct cuda_settings *settings)
{
    const struct cuda_nvrtc *nvrtc;
    size_t used = strlen(info->summary);
    if (cuda_nvrtc_open(host, settings->nvrtc, &nvrtc) == GYRE_OK)
        snprintf(info->summary + used, sizeof info->summary - used, "; NVRTC %d.%d", nvrtc->major,
                 nvrtc->minor);
    else
        snprintf(info->summary + used, sizeof info->summary - used,
                 "; no NVRTC: runs compiled files only (install cuda-nvrtc)");
}

/* ---- probe ---- */

static gyre_status probe_compile_only(const gyre_host *host, const struct cuda_settings *settings,
                                      gyre_probe_info *info)
{
    const struct cuda_nvrtc *nvrtc;
    gyre_status status = cuda_nvrtc_open(host, settings->nvrtc, &nvrtc);
    if (status != GYRE_OK)
        return status;
    info->score = SCORE_COMPILE_ONLY;
    info->device_count = 1;
    snprintf(info->library, sizeof info->library, "%s", nvrtc->path);
    snprintf(info->summary, sizeof info->summary, "compiles for %s with NVRTC %d.%d and runs nothing",
             settings->compile_for, nvrtc->major, nvrtc->minor);
    return GYRE_OK;
}

static void say_driver(gyre_probe_info *info, const struct cuda_driver *driver)
{
    char release[64];
    cuda_driver_release(release, sizeof release);
    snprintf(info->library, sizeof info->library, "%.160s (CUDA %d.%d)", driver->path, driver->version / 1000,
             driver->version % 1000 / 10);
    snprintf(info->fingerprint, sizeof info->fingerprint, "driver %s, CUDA %d.%d",
             release[0] ? release : "of unknown release", driver->version / 1000,
             driver->version % 1000 / 10);
}

/* OK when a device can run kernels; else the reason of the last that cannot. */
static gyre_status probe_devices(const gyre_host *host, const struct cuda_driver *driver,
                                 const struct cuda_settings *settings, gyre_probe_info *info)
{
    int count = 0;
    gyre_status reason = cuda_check_host(host, driver, driver->cuDeviceGetCount(&count), "cuDeviceGetCount");
    bool usable = false;
    if (reason == GYRE_OK && count == 0)
        return host->error(GYRE_UNAVAILABLE,
                           "the NVIDIA driver '%s' works but lists no device; "
                           "see CUDA_VISIBLE_DEVICES and the devices of the container",
                           driver->path);
    info->device_count = reason == GYRE_OK ? cuda_devices_count(settings, count) : 0;
    for (uint32_t i = 0; i < info->device_count; i++) {
        gyre_device device = {.host = host, .driver = driver, .settings = *settings, .ordinal = i};
        pthread_mutex_init(&device.lost_lock, NULL);
        gyre_status status = cuda_device_describe(&device);
        pthread_mutex_destroy(&device.lost_lock);
        if (status != GYRE_OK)
            reason = status;
        else
            say_device(info, &device);
        usable = usable || status == GYRE_OK;
    }
    return usable ? GYRE_OK : reason;
}

static gyre_status cuda_probe(const gyre_probe_desc *desc, gyre_probe_info *info)
{
    struct cuda_settings settings;
    const struct cuda_driver *driver;
    cuda_libraries_watch(info->watch, sizeof info->watch);
    gyre_status status = cuda_settings_read(desc->host, desc->parameters, desc->parameter_count, &settings);
    if (status == GYRE_OK && settings.compile_for[0])
        return probe_compile_only(desc->host, &settings, info);
    if (status == GYRE_OK)
        status = cuda_driver_open(desc->host, settings.driver, &driver);
    if (status != GYRE_OK)
        return status;
    info->score = SCORE;
    say_driver(info, driver);
    status = probe_devices(desc->host, driver, &settings, info);
    if (status == GYRE_OK)
        say_compiler(info, desc->host, &settings);
    return status;
}

/* ---- the table ---- */

static const gyre_backend_ops cuda_ops = {
    .size = sizeof(gyre_backend_ops),
    .probe = cuda_probe,
    .device_open = cuda_device_open,
    .device_close = cuda_device_close,
    .device_info = cuda_device_info,
    .compile = cuda_compile,
    .module_load = cuda_module_load,
    .module_kernel = cuda_module_kernel,
    .module_release = cuda_module_release,
    .queue_alloc = cuda_queue_alloc,
    .queue_release = cuda_queue_release,
    .memory_alloc = cuda_memory_alloc,
    .memory_release = cuda_memory_release,
    .transfer = cuda_transfer,
    .launch = cuda_launch,
    .wait = cuda_wait,
    .notify = cuda_notify,
    .release = cuda_release,
    .get_extension = cuda_extension,
    .memory_address = cuda_memory_address,
    .memory_copy = cuda_memory_copy,
};

const gyre_backend_plugin gyre_plugin = {
    .magic = GYRE_ABI_MAGIC,
    .abi_major = GYRE_ABI_MAJOR,
    .abi_minor = GYRE_ABI_MINOR,
    .size = sizeof(gyre_backend_plugin),
    .name = "cuda",
    .build = GYRE_VERSION_TEXT,
    .ops = &cuda_ops,
};
