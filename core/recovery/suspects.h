/* SPDX-License-Identifier: Apache-2.0 */
/* Which request took a worker process down. In the thread of a device's keeper. */
#ifndef GYRE_CORE_RECOVERY_SUSPECTS_H
#define GYRE_CORE_RECOVERY_SUSPECTS_H

#include "core/recovery/recovery.h"

/**
 * After the death of a worker, for `reason`: finds the culprit or a suspect, fails a request that was there too often, and
 * notes whether anything was answered since the last death.
 */
void gyre_suspects_investigate(const struct gyre_recovery *recovery, const char *reason);

#endif
