/* SPDX-License-Identifier: Apache-2.0 */
/* Revives a kernel whose worker process died, or gives it up. In the thread of the worker's keeper. */
#ifndef GYRE_CORE_RECOVERY_REVIVAL_H
#define GYRE_CORE_RECOVERY_REVIVAL_H

#include "core/kernel/kernel.h"

/**
 * Launches the kernel in the new worker, where it goes on at the first unanswered request of each queue. Leaves out queues
 * whose gate is closed. LOST when the new worker died, too. Gives the kernel up when it cannot be launched for another reason.
 */
gyre_status gyre_recovery_resume(gyre_kernel *kernel);
/** Ends the revival: the kernel is lost, because of `why`. Returns how many requests stay unanswered. */
uint64_t gyre_recovery_end(gyre_kernel *kernel, const char *why);
/** Does what gyre_recovery_end does, and logs an error. */
void gyre_recovery_give_up(gyre_kernel *kernel, const char *why);

#endif
