/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the request that killed a worker process, in the thread of the worker's keeper. How: suspects.c. */
#ifndef GYRE_CORE_RECOVERY_SUSPECTS_H
#define GYRE_CORE_RECOVERY_SUSPECTS_H

#include "core/recovery/recovery.h"

/**
 * Call after a worker died because of `reason`. Finds the request that killed the worker, or the suspected requests. Fails a
 * request that killed workers too often. Notes whether any request was answered since the last death.
 */
void gyre_suspects_investigate(const struct gyre_recovery *recovery, const char *reason);

#endif
