/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of other programs' clients into queues that keep what is sent (core/attach/relay.h). */
#ifndef GYRE_CORE_DURABILITY_RELAYED_H
#define GYRE_CORE_DURABILITY_RELAYED_H

#include "core/kernel/kernel.h"
#include "core/ring/options.h"

/** Whether what is sent as [queue.SECTION] says is kept for another time, by checkpoints or a journal. */
bool gyre_kernel_relays(const gyre_kernel *kernel, const char *section);
/**
 * The queue of the kernel that takes it, which is opened if it is not there yet; the caller is in it then
 * (gyre_queue_leave). INVALID, UNIMPLEMENTED for one that cannot, CLOSED, and what opening a queue returns.
 */
gyre_status gyre_kernel_relay_target(gyre_kernel *kernel, const char *section, gyre_queue **out);
/** How the ring of a client is made whose requests go into `target`. INVALID when they do not fit into it. */
gyre_status gyre_kernel_plan_relayed(const gyre_kernel *kernel, const gyre_queue *target,
                                     const gyre_queue_desc *desc, const char *section,
                                     struct gyre_queue_options *options);

#endif
