/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: chosen by the registry, opened on first use, shared by all kernels and buffers on them. */
#include "core/runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/info.h"

/* A plugin's lines obey the configured level like the runtime's own. */
static void log_of_plugin(void *context, int level, const char *text)
{
    gyre_runtime_log(context, (gyre_log_level)level, "%s", text);
}

static gyre_status open_device(gyre_runtime *runtime, const struct gyre_candidate *candidate,
                               uint32_t ordinal, struct gyre_dispatch **out)
{
    struct gyre_open_device *device = calloc(1, sizeof *device);
    if (!device)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a device");
    gyre_status status = gyre_dispatch_open(candidate, ordinal, log_of_plugin, runtime, &device->dispatch);
    if (status != GYRE_OK) {
        free(device);
        return status;
    }
    device->runtime = runtime;
    device->candidate = candidate;
    device->ordinal = ordinal;
    device->next = runtime->devices;
    runtime->devices = device;
    *out = device->dispatch;
    if (gyre_dispatch_isolated(device->dispatch))
        gyre_recovery_watch(device);
    else
        gyre_registry_hold(runtime->registry, candidate);
    return GYRE_OK;
}

/* The CPU backend starts everywhere. Where `auto` had to pass it over, its plugin is missing or broken. */
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

gyre_status gyre_runtime_device(gyre_runtime *runtime, const char *backend, uint32_t ordinal,
                                struct gyre_dispatch **out)
{
    const struct gyre_candidate *candidate = NULL;
    char why[1024];
    *out = NULL;
    if (!backend || !backend[0])
        backend = gyre_config_text(runtime->config, GYRE_SECTION_GYRE, NULL, "backend");
    pthread_mutex_lock(&runtime->lock);
    gyre_status status = gyre_registry_choose(runtime->registry, backend, &candidate, why, sizeof why);
    for (struct gyre_open_device *device = runtime->devices; status == GYRE_OK && device;
         device = device->next)
        if (device->candidate == candidate && device->ordinal == ordinal)
            *out = device->dispatch;
    if (status == GYRE_OK && !*out) {
        gyre_runtime_log(runtime, GYRE_LOG_INFO, "%s", why);
        if (strcmp(backend, "auto") == 0)
            warn_of_cpu(runtime, candidate);
        status = open_device(runtime, candidate, ordinal, out);
    }
    runtime->device_failed = status != GYRE_OK;
    pthread_mutex_unlock(&runtime->lock);
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
