/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the journal of a queue (durable.h), lets the queue go on from it, and tells what was recovered. */
#ifndef GYRE_CORE_DURABILITY_DURABLE_OPEN_H
#define GYRE_CORE_DURABILITY_DURABLE_OPEN_H

#include "core/durability/durable.h"
#include "core/kernel/kernel_queue.h"

/**
 * Opens and reads the journal of a queue that is about to be made, if [queue.SECTION] asks for one; else *out is NULL.
 * Sets desc->first_sequence to the index at which the queue has to begin.
 */
gyre_status gyre_durable_open(gyre_kernel *kernel, const struct gyre_kernel_face *face, gyre_queue_desc *desc,
                              const char *section, struct gyre_durable **out);

/** Lets a queue go on where the journal ended. The queue has the log that a journal needs (gyre_checkpoints_equip). The
 * queue owns `durable` afterwards. */
gyre_status gyre_durable_attach(struct gyre_durable *durable, gyre_queue *queue);

/** The least number of requests for which the queue's log (core/stages/log.h) needs room. */
uint64_t gyre_durable_log_count(const struct gyre_durable *durable);

/**
 * Begins the journals of a kernel anew with its present handler and types, when it got another body. `back`: the body before is taken
 * back; then a file that is still of it goes on, and one that cannot be begun anew makes its senders wait. Without the lock.
 */
gyre_status gyre_durable_adapt(gyre_kernel *kernel, bool back);

/** The handler's state from the journal of the kernel's queue; NULL: no journal holds a state. */
const unsigned char *gyre_durable_state(const gyre_kernel *kernel);

/** Frees the content that was read from journals of an earlier run. Call when the kernel runs, because it has taken the content
 * over then. Not of entries of pipelines, which take theirs over later. */
void gyre_durable_forget(gyre_kernel *kernel);

#endif
