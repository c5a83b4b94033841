/* SPDX-License-Identifier: Apache-2.0 */
/* How a kernel is. */
#ifndef GYRE_CORE_RECOVERY_HEALTH_H
#define GYRE_CORE_RECOVERY_HEALTH_H

#include "core/kernel/kernel.h"

/** Under kernel->lock. */
gyre_kernel_health gyre_kernel_health_of(const gyre_kernel *kernel);

#endif
