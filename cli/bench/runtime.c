/* SPDX-License-Identifier: Apache-2.0 */
/* Opens runtimes with the settings of a case, and launches the benchmark's kernels in them, through the public
 * API. No state. */
#include "cli/bench/runtime.h"
#include "cli/bench/bench.h"
#include "cli/bench/kernels.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/device/devices.h"
#include "core/api/tools.h"

/* Appends a NULL-terminated list; false when there is no room. */
static bool append_settings(const char **settings, size_t *count, const char *const *more)
{
    for (; more && *more; more++) {
        if (*count == BENCH_SETTINGS_MAX)
            return false;
        settings[(*count)++] = *more;
    }
    return true;
}

gyre_status bench_settings(const bench_case *self, const bench_options *options, const char *const *extra,
                           char pin[64], const char *settings[BENCH_SETTINGS_MAX + 1])
{
    size_t count = 0;
    /* the client's neighbour, as in the floors; the user's own word comes after the case's and wins */
    snprintf(pin, 64, "backend.cpu.pin=%d", bench_core_server());
    if (bench_core_server() >= 0)
        settings[count++] = pin;
    if (!append_settings(settings, &count, self->settings) ||
        !append_settings(settings, &count, options->cli->settings.items) ||
        !append_settings(settings, &count, extra))
        return gyre_error_set(GYRE_INVALID, "more than %d settings", BENCH_SETTINGS_MAX);
    settings[count] = NULL;
    return GYRE_OK;
}

gyre_status bench_runtime_open(const bench_case *self, const bench_options *options, const char *const *extra,
                               gyre_runtime **out)
{
    const char *settings[BENCH_SETTINGS_MAX + 1];
    char pin[64];
    gyre_status status = bench_settings(self, options, extra, pin, settings);
    gyre_open_desc desc = {.size = sizeof desc,
                           .config_path = options->cli->config_path,
                           .settings = settings,
                           .backend = options->cli->backend};
    return status == GYRE_OK ? gyre_runtime_open_typed(&desc, out) : status;
}

gyre_status bench_device_status(gyre_runtime *runtime, gyre_status status)
{
    return status == GYRE_NOT_FOUND && gyre_runtime_device_failed(runtime) ? GYRE_UNAVAILABLE : status;
}

gyre_status bench_launch(gyre_runtime *runtime, enum bench_kind kind, gyre_kernel **out)
{
    char path[PATH_MAX];
    gyre_status status = bench_kernel_file(kind, path, sizeof path);
    if (status != GYRE_OK)
        return status;
    gyre_launch_desc desc = {.size = sizeof desc, .source = path, .kernel = bench_kernel_name(kind)};
    return bench_device_status(runtime, gyre_launch(runtime, &desc, out));
}

void bench_note_kernel(const gyre_kernel *kernel, bench_row *row)
{
    gyre_kernel_info info = {.size = sizeof info};
    if (gyre_kernel_info_get(kernel, &info) != GYRE_OK)
        return;
    snprintf(row->backend, sizeof row->backend, "%s", info.backend);
    snprintf(row->device, sizeof row->device, "%s", info.device);
}

/*
 * Takes the settings away on a processor, where a block for each multiprocessor of a GPU would be a thread each. How many keys a kernel
 * has stays: `kept` has room for that, and for the end.
 */
static const char *const *settings_for_processor(const char *const *settings, const char *kept[2])
{
    kept[0] = kept[1] = NULL;
    for (; settings && *settings; settings++)
        if (strstr(*settings, ".keys="))
            kept[0] = *settings;
    return kept;
}

gyre_status bench_run_widely(const bench_case *self, const bench_options *options, bench_row *row,
                             gyre_status (*run)(const bench_case *self, const bench_options *options,
                                                bench_row *row))
{
    gyre_runtime *runtime = NULL;
    gyre_backend_choice choice = {.size = sizeof choice};
    bench_case here = *self;
    const char *kept[2];
    gyre_status status = bench_runtime_open(self, options, NULL, &runtime);
    if (status == GYRE_OK)
        status = gyre_backend_choose(runtime, NULL, &choice);
    gyre_close(runtime);
    if (strcmp(choice.name, "cpu") == 0)
        here.settings = settings_for_processor(self->settings, kept);
    return status == GYRE_OK ? run(&here, options, row) : status;
}
