/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes the watcher of a runtime (core/device/watcher.h): its watchdog, its supervisor, and its notes about each
 * kernel. */
#ifndef GYRE_CORE_RECOVERY_RUNTIME_CARE_H
#define GYRE_CORE_RECOVERY_RUNTIME_CARE_H

#include "core/recovery/care.h"

/** Becomes the watcher of a runtime that is being opened. EXHAUSTED. */
gyre_status gyre_care_open(gyre_runtime *runtime);

/** Ends the watcher's threads, before the kernels are released. Accepts a runtime without a watcher. */
void gyre_care_stop(gyre_runtime *runtime);

/** Frees the watcher. Call after the devices are closed, because a worker's keeper may revive kernels until then. Accepts a
 * runtime without a watcher. */
void gyre_care_close(gyre_runtime *runtime);

#endif
