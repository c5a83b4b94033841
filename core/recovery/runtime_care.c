/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills the table of a runtime's watcher (core/device/watcher.h): each entry calls the watchdog, the supervisor or recovery.
 * Takes no lock.
 */
#include "core/recovery/runtime_care.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/device/watcher.h"
#include "core/recovery/recovery.h"
#include "core/recovery/recovery_run.h"
#include "core/recovery/supervisor.h"
#include "core/recovery/watchdog.h"
#include "core/recovery/watchdog_thread.h"

static gyre_status care_begin(gyre_kernel *kernel)
{
    kernel->care = calloc(1, sizeof *kernel->care + kernel->blocks * sizeof kernel->care->blocks[0]);
    if (!kernel->care)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to watch kernel '%s'", kernel->name);
    return kernel->migrates ? GYRE_OK : gyre_supervisor_need(kernel);
}

static const struct gyre_watcher watcher = {
    .begin = care_begin,
    .listed = gyre_watchdog_need,
    .lost = gyre_recovery_run,
};

gyre_status gyre_care_open(gyre_runtime *runtime)
{
    runtime->watcher = &watcher;
    gyre_status status = gyre_watchdog_create(&runtime->watchdog);
    return status == GYRE_OK ? gyre_supervisor_create(&runtime->supervisor) : status;
}

void gyre_care_stop(gyre_runtime *runtime)
{
    gyre_supervisor_stop(runtime->supervisor);
    gyre_watchdog_stop(runtime->watchdog);
}

void gyre_care_close(gyre_runtime *runtime)
{
    gyre_supervisor_destroy(runtime->supervisor);
    gyre_watchdog_destroy(runtime->watchdog);
}
