/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the request that killed a worker process. In the thread of the worker's keeper. */
#ifndef GYRE_CORE_RECOVERY_SUSPECTS_H
#define GYRE_CORE_RECOVERY_SUSPECTS_H

#include "core/recovery/recovery.h"

/**
 * After the death of a worker because of `reason`: finds the request that killed it, or suspects; fails a request that did so
 * too often; notes whether any request was answered since the last death.
 */
void gyre_suspects_investigate(const struct gyre_recovery *recovery, const char *reason);

#endif
