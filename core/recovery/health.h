/* SPDX-License-Identifier: Apache-2.0 */
/* The health of a kernel: idle, busy, stalled or dead. */
#ifndef GYRE_CORE_RECOVERY_HEALTH_H
#define GYRE_CORE_RECOVERY_HEALTH_H

#include "core/kernel/kernel.h"

/** The health of a kernel. Under kernel->lock. */
gyre_kernel_health gyre_kernel_health_of(const gyre_kernel *kernel);

#endif
