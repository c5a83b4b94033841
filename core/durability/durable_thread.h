/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a journal (durable.h): writes what a queue keeps, writes the file anew, and puts checkpoints into it. */
#ifndef GYRE_CORE_DURABILITY_DURABLE_THREAD_H
#define GYRE_CORE_DURABILITY_DURABLE_THREAD_H

#include "core/durability/durable.h"

/** Writes the journal of one queue anew. The queue's kernel may run. */
gyre_status gyre_durable_begin_queue(gyre_queue *queue);
/**
 * The kernel has the body again for which the journal was described last: the file goes on if it began with that body, and begins anew
 * otherwise. Where it cannot, nothing counts as durable until it could.
 */
void gyre_durable_take_back(struct gyre_durable *durable);

/** Writes the journals of all queues anew, for a device that is about to start with its initial state. */
gyre_status gyre_durable_begin(gyre_kernel *kernel);

/** True when a queue of the kernel has a journal. Under kernel->lock. */
bool gyre_durable_has(const gyre_kernel *kernel);

/** Writes the last checkpoint into the journal. `last`: it is from after the device left, so no request was handled behind it.
 * Checkpoints' `writing` keeps other threads from taking a checkpoint meanwhile. */
void gyre_durable_checkpoint(gyre_kernel *kernel, bool last);

/** As gyre_durable_checkpoint, of the journal of an entry, whose checkpoint was gathered (together.h). */
void gyre_durable_write(struct gyre_durable *durable, bool last);

/** Ends the thread, with a last look at the queue, and closes the file. Accepts NULL, and one that was ended. */
void gyre_durable_end(struct gyre_durable *durable);

/** Frees the journal after gyre_durable_end, when no thread is in the queue and might ring the journal's bell. Accepts NULL. */
void gyre_durable_free(struct gyre_durable *durable);

#endif
