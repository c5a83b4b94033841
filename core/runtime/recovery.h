/* SPDX-License-Identifier: Apache-2.0 */
/* What recovery.c and careful.c share. All of it runs in the thread of a device's keeper. */
#ifndef GYRE_CORE_RUNTIME_RECOVERY_H
#define GYRE_CORE_RUNTIME_RECOVERY_H

#include "core/runtime/runtime.h"

/** The kernels of a device whose worker died, visited. */
struct gyre_recovery {
    struct gyre_open_device *device;
    gyre_kernel **kernels;
    size_t count;
};

/**
 * Launches a kernel again, resumed at its first unanswered requests; queues with a gate of 0 are left out.
 * LOST when the new worker died as well. A kernel that cannot be launched for another reason is given up.
 */
gyre_status gyre_recovery_resume(gyre_kernel *kernel);

/**
 * Hands out the unanswered requests in small portions, the suspected one first and alone, until all that were
 * there are answered. Then every kernel is resumed. LOST when the worker died; what it saw tells why.
 */
gyre_status gyre_recovery_step_by_step(const struct gyre_recovery *recovery);

#endif
