/* SPDX-License-Identifier: Apache-2.0 */
/* Reviving a kernel whose worker process died, or giving it up. In the thread of the worker's keeper. */
#ifndef GYRE_CORE_RECOVERY_REVIVAL_H
#define GYRE_CORE_RECOVERY_REVIVAL_H

#include "core/kernel/kernel.h"

/**
 * Launches the kernel in the new worker, where it goes on at the first unanswered request of each queue. Queues with a gate
 * of 0 are left out. LOST when the new worker died, too. A kernel that cannot be launched for another reason is given up.
 */
gyre_status gyre_recovery_resume(gyre_kernel *kernel);
/** Ends the revival: the kernel is lost, because of `why`. Returns how many requests stay unanswered. */
uint64_t gyre_recovery_end(gyre_kernel *kernel, const char *why);
/** The same, with an error in the log. */
void gyre_recovery_give_up(gyre_kernel *kernel, const char *why);

#endif
