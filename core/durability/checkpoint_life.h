/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, equips and frees the checkpoints of a kernel (checkpoint.h), and takes the first checkpoint. */
#ifndef GYRE_CORE_DURABILITY_CHECKPOINT_LIFE_H
#define GYRE_CORE_DURABILITY_CHECKPOINT_LIFE_H

#include "core/durability/checkpoint.h"

/** Makes the kernel's checkpoints if they are configured. Call when the kernel's buffers are bound and its state is made. */
gyre_status gyre_checkpoints_create(gyre_kernel *kernel);

/** Warns about configured checkpoints that do not help, or help less than they could. Call when the main queue is made. */
void gyre_checkpoints_judge(const gyre_kernel *kernel);

/** Frees the kernel's checkpoints, after the device has left. Accepts a kernel without checkpoints. */
void gyre_checkpoints_destroy(gyre_kernel *kernel);

/**
 * Prepares a new queue of the kernel for checkpoints and for its journal `durable` (NULL: none): gives the queue the log that
 * both need (core/stages/log.h), and puts the journal's messages into the queue. The queue owns `durable` afterwards, even
 * after a failure. Under kernel->lock.
 */
gyre_status gyre_checkpoints_equip(gyre_kernel *kernel, gyre_queue *queue, struct gyre_durable *durable);

/** Takes the first checkpoint: the state at launch. Call before the device runs, and without the lock. */
gyre_status gyre_checkpoints_begin(gyre_kernel *kernel);

/** Lets checkpoints go on with another body of the kernel, from the content of its memory (keeper.h). Without the lock. */
gyre_status gyre_checkpoints_adapt(gyre_kernel *kernel);

/** Settles all requests of a queue, for a kernel that starts again with its initial state. Under kernel->lock. */
void gyre_checkpoints_rewind(gyre_kernel *kernel, gyre_queue *queue);

#endif
