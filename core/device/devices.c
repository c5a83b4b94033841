/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a runtime's devices. The registry chooses a device, the first user opens it, and all kernels and buffers on the device
 * share it.
 * Lock: runtime->lock for the list, not while a backend is probed or a device is opened, because that may take seconds. A
 * device that is being opened is listed with `opening` set. Only threads that want the same device wait, on `settled`.
 */
#include "core/device/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/info_give.h"
#include "core/device/open_device.h"
#include "core/device/watcher.h"
#include "core/dispatch/dispatch.h"
#include "core/plan/build_options.h"
#include "core/plan/devices_plan.h"

/* Logs a line of a backend plugin, unless the configured level hides it. */
static void log_of_plugin(void *context, int level, const char *text)
{
    gyre_runtime_log(context, (gyre_log_level)level, "%s", text);
}

/* Warns when `auto` had to pass over the CPU backend: that backend starts everywhere, so its plugin is missing or broken. */
static void warn_of_cpu(const gyre_runtime *runtime, const struct gyre_candidate *chosen)
{
    for (size_t i = 0; i < gyre_registry_count(runtime->registry); i++) {
        const struct gyre_candidate *candidate = gyre_registry_at(runtime->registry, i);
        if (strcmp(candidate->name, "cpu") == 0 && candidate->enabled && candidate->origin[0] &&
            candidate->status != GYRE_OK)
            gyre_runtime_log(runtime, GYRE_LOG_WARNING, "backend 'cpu' cannot start, so auto chose '%s': %s",
                             chosen->name, candidate->reason);
    }
}

/* ---- opening ---- */

/* The listed device of that backend and ordinal, or NULL. Under the lock. */
static struct gyre_open_device *find_device(const gyre_runtime *runtime,
                                            const struct gyre_candidate *candidate, uint32_t ordinal)
{
    struct gyre_open_device *device = runtime->devices;
    while (device && (device->candidate != candidate || device->ordinal != ordinal))
        device = device->next;
    return device;
}

/* Lists a device that this thread will open; other threads that want it wait. NULL without memory. Under the lock. */
static struct gyre_open_device *claim_device(gyre_runtime *runtime, const struct gyre_candidate *candidate,
                                             uint32_t ordinal)
{
    struct gyre_open_device *device = calloc(1, sizeof *device);
    if (!device)
        return NULL;
    device->runtime = runtime;
    device->candidate = candidate;
    device->ordinal = ordinal;
    device->opening = true;
    device->next = runtime->devices;
    runtime->devices = device;
    return device;
}

/* Takes a device off the list. Under the lock. */
static void unlist_device(gyre_runtime *runtime, const struct gyre_open_device *device)
{
    struct gyre_open_device **link = &runtime->devices;
    while (*link != device)
        link = &(*link)->next;
    *link = device->next;
}

/* Opens a claimed device. After a failure the device is freed, and threads that waited for it try to open it themselves. */
static gyre_status open_device(struct gyre_open_device *device)
{
    gyre_runtime *runtime = device->runtime;
    gyre_status status =
        gyre_dispatch_open(device->candidate, device->ordinal, log_of_plugin, runtime, &device->dispatch);
    if (status == GYRE_OK && gyre_dispatch_isolated(device->dispatch))
        gyre_dispatch_guard(device->dispatch, runtime->watcher->lost, device);
    else if (status == GYRE_OK)
        gyre_registry_hold(runtime->registry, device->candidate);
    pthread_mutex_lock(&runtime->lock);
    device->opening = false;
    if (status != GYRE_OK)
        unlist_device(runtime, device);
    pthread_cond_broadcast(&runtime->settled);
    pthread_mutex_unlock(&runtime->lock);
    if (status != GYRE_OK)
        free(device);
    return status;
}

/* Finds a device, and waits while another thread opens it. *claimed true: no thread has opened the device, so
 * the caller must. */
static struct gyre_open_device *find_or_claim(gyre_runtime *runtime, const struct gyre_candidate *candidate,
                                              uint32_t ordinal, bool *claimed)
{
    struct gyre_open_device *device;
    pthread_mutex_lock(&runtime->lock);
    while ((device = find_device(runtime, candidate, ordinal)) && device->opening)
        pthread_cond_wait(&runtime->settled, &runtime->lock);
    *claimed = !device;
    if (!device)
        device = claim_device(runtime, candidate, ordinal);
    pthread_mutex_unlock(&runtime->lock);
    return device;
}

static gyre_status device_of(gyre_runtime *runtime, const char *backend, uint32_t ordinal,
                             struct gyre_dispatch **out)
{
    const struct gyre_candidate *candidate = NULL;
    char why[1024];
    bool claimed;
    gyre_status status = gyre_registry_choose(runtime->registry, backend, &candidate, why, sizeof why);
    if (status != GYRE_OK)
        return status;
    struct gyre_open_device *device = find_or_claim(runtime, candidate, ordinal, &claimed);
    if (!device)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a device");
    if (claimed) {
        gyre_runtime_log(runtime, GYRE_LOG_INFO, "%s", why);
        if (strcmp(backend, "auto") == 0)
            warn_of_cpu(runtime, candidate);
        status = open_device(device);
    }
    if (status == GYRE_OK)
        *out = device->dispatch;
    return status;
}

gyre_status gyre_runtime_device(gyre_runtime *runtime, const char *backend, uint32_t ordinal,
                                struct gyre_dispatch **out)
{
    bool configured = !backend || !backend[0];
    *out = NULL;
    if (configured)
        backend = gyre_config_text(runtime->config, GYRE_SECTION_GYRE, NULL, "backend");
    gyre_status status = device_of(runtime, backend, ordinal, out);
    if (configured && status == GYRE_NOT_FOUND)
        gyre_config_blame(runtime->config, GYRE_SECTION_GYRE, NULL, "backend", status);
    pthread_mutex_lock(&runtime->lock);
    runtime->device_failed = status != GYRE_OK;
    pthread_mutex_unlock(&runtime->lock);
    return status;
}

gyre_status gyre_kernel_device(gyre_runtime *runtime, const char *name, const char *backend, uint32_t ordinal,
                               struct gyre_dispatch **out)
{
    const char *wanted = gyre_kernel_backend(runtime->config, name, backend);
    *out = NULL;
    gyre_status status = gyre_devices_choose_one(runtime->config, name, &ordinal);
    if (status == GYRE_OK)
        status = gyre_runtime_device(runtime, wanted, ordinal, out);
    if (status == GYRE_NOT_FOUND && !backend && wanted[0])
        gyre_config_blame(runtime->config, GYRE_SECTION_KERNEL, name, "backend", status);
    return status;
}

bool gyre_runtime_device_failed(gyre_runtime *runtime)
{
    pthread_mutex_lock(&runtime->lock);
    bool failed = runtime->device_failed;
    pthread_mutex_unlock(&runtime->lock);
    return failed;
}

gyre_status gyre_backend_choose(gyre_runtime *runtime, const char *backend, gyre_backend_choice *out)
{
    const struct gyre_candidate *candidate = NULL;
    gyre_backend_choice choice = {0};
    if (!runtime || !out || out->size < sizeof out->size)
        return gyre_error_set(GYRE_INVALID,
                              "gyre_backend_choose needs a runtime and a choice with its size set");
    if (!backend || !backend[0])
        backend = gyre_config_text(runtime->config, GYRE_SECTION_GYRE, NULL, "backend");
    gyre_status status =
        gyre_registry_choose(runtime->registry, backend, &candidate, choice.why, sizeof choice.why);
    if (status != GYRE_OK)
        return status;
    snprintf(choice.name, sizeof choice.name, "%s", candidate->name);
    gyre_info_give(out, &choice, sizeof choice);
    return GYRE_OK;
}

void gyre_runtime_close_devices(gyre_runtime *runtime)
{
    while (runtime->devices) {
        struct gyre_open_device *device = runtime->devices;
        runtime->devices = device->next;
        gyre_dispatch_close(device->dispatch);
        free(device);
    }
}
