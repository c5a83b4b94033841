/* SPDX-License-Identifier: Apache-2.0 */
/* Queues that keep requests, and take requests of other programs by way of a relay (core/attach/relay.h). */
#ifndef GYRE_CORE_DURABILITY_RELAYED_H
#define GYRE_CORE_DURABILITY_RELAYED_H

#include "core/kernel/kernel.h"
#include "core/ring/ring_options.h"

/** True when requests of [queue.SECTION] are kept by checkpoints or a journal. */
bool gyre_kernel_relays(const gyre_kernel *kernel, const char *section);
/**
 * The kernel's queue that takes requests of [queue.SECTION] from other programs, opened if necessary. The caller then counts
 * as inside the queue, which keeps the queue from being freed, until gyre_queue_leave. INVALID or UNIMPLEMENTED when the
 * queue cannot take requests of other programs, CLOSED, and errors of opening a queue.
 */
gyre_status gyre_kernel_relay_target(gyre_kernel *kernel, const char *section, gyre_queue **out);
/** Plans the ring of a client whose requests go into `target`. INVALID when they do not fit into it. */
gyre_status gyre_kernel_plan_relayed(const gyre_kernel *kernel, const gyre_queue *target,
                                     const gyre_queue_desc *desc, const char *section,
                                     struct gyre_queue_options *options);

#endif
