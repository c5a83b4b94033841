/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies what a kernel and its queues count into the observation file of the process (core/observation/observation.h). Messages
 * pay nothing for it: the counts are those of gyre_kernel_info and gyre_queue_stats, and a thread that watches the kernel anyway
 * copies them. Without a file these functions do nothing.
 */
#ifndef GYRE_CORE_KERNEL_OBSERVED_H
#define GYRE_CORE_KERNEL_OBSERVED_H

#include "core/kernel/kernel.h"

/** Writes the values of the kernel, from `info`, and of its queues. Takes the lock. */
void gyre_kernel_observe(gyre_kernel *kernel, const gyre_kernel_info *info);
/** Shows a kernel that was started as one that works: the last look found no device, and the next one may be far. Under the lock. */
void gyre_kernel_observe_start(const gyre_kernel *kernel);
/** Take the records of a kernel with its queues, or of one queue, out of the file. Called before they are freed, under the lock
 * where the queue is in a list. */
void gyre_kernel_unobserve(gyre_kernel *kernel);
void gyre_kernel_unobserve_queue(gyre_kernel *kernel, gyre_queue *queue);
/**
 * Adds how long flows took that entered at the kernel, since gyre_kernel_flows_forget, which a new pipeline calls. Return false when the
 * kernel's lock is taken: the caller holds that of the runtime, for which whoever has the kernel's may wait.
 */
bool gyre_kernel_flows_add(gyre_kernel *kernel, struct gyre_kernel_flows *sum);
bool gyre_kernel_flows_forget(gyre_kernel *kernel);
/** The number of the kernel's record in the file; 0: it has none. */
static inline uint32_t gyre_kernel_observed_record(const gyre_kernel *kernel)
{
    return __atomic_load_n(&kernel->observed, __ATOMIC_ACQUIRE);
}

#endif
