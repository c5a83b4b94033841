/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel whose worker process died, and what becomes of it. In the thread of a device's keeper. */
#ifndef GYRE_CORE_RECOVERY_REVIVAL_H
#define GYRE_CORE_RECOVERY_REVIVAL_H

#include "core/kernel/kernel.h"

/**
 * Launches a kernel again, resumed at its first unanswered requests; queues with a gate of 0 are left out.
 * LOST when the new worker died as well. A kernel that cannot be launched for another reason is given up.
 */
gyre_status gyre_recovery_resume(gyre_kernel *kernel);
/** Nobody brings it back any more, because of `why`. Returns how many requests are left unanswered. */
uint64_t gyre_recovery_end(gyre_kernel *kernel, const char *why);
/** The same, with a line in the log. */
void gyre_recovery_give_up(gyre_kernel *kernel, const char *why);

#endif
