/* SPDX-License-Identifier: Apache-2.0 */
/* The queues of a kernel. "The lock" is kernel->lock. */
#ifndef GYRE_CORE_KERNEL_KERNEL_QUEUE_H
#define GYRE_CORE_KERNEL_KERNEL_QUEUE_H

#include "core/kernel/kernel.h"
#include "core/ring/options.h"

/** Makes a queue and puts it into the table, which is announced by the next command. Takes the lock. */
gyre_status gyre_kernel_add_queue(gyre_kernel *kernel, const gyre_queue_desc *desc, gyre_queue **out);
/** The same for a queue that is configured by [queue.SECTION], whatever its own name. */
gyre_status gyre_kernel_add_ring(gyre_kernel *kernel, const gyre_queue_desc *desc, const char *section,
                                 gyre_queue **out);
/** The same for a queue whose client is another program (core/queue/lent.h); *options: whether it is `trusted`, and
 * afterwards how it was made. UNAVAILABLE where the device would handle in place what it may not.
 * Not where gyre_kernel_relays. */
gyre_status gyre_kernel_lend_ring(gyre_kernel *kernel, const gyre_queue_desc *desc, const char *section,
                                  struct gyre_queue_options *options, gyre_queue **out);
/** How such a queue is made, `lent` or not; *options has nothing to be freed after a failure. */
gyre_status gyre_kernel_plan_ring(const gyre_kernel *kernel, const gyre_queue_desc *desc, const char *section,
                                  bool lent, struct gyre_queue_options *options);
/** Takes a queue off its kernel and frees it. Takes the lock. */
void gyre_kernel_close_queue(gyre_queue *queue);
/** Makes a queue that is in no list yet, and makes it visible to the device. */
gyre_status gyre_kernel_make_queue(gyre_kernel *kernel, const gyre_queue_desc *desc, const char *section,
                                   gyre_queue **out);
/** Frees one that is in no list, or whose device has left. */
void gyre_kernel_free_queue(gyre_kernel *kernel, gyre_queue *queue);
/** Frees every queue of a kernel whose device side has left. */
void gyre_kernel_free_queues(gyre_kernel *kernel);
/** Lets everybody who waits in a call on a queue of the kernel return; what comes after is CLOSED as well. */
void gyre_kernel_abandon_queues(gyre_kernel *kernel);
/** Points every entry of the table at the next unsent index,
 * for a device that starts anew. Under the lock. */
void gyre_kernel_rewind_queues(gyre_kernel *kernel);

#endif
