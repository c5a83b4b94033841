/* SPDX-License-Identifier: Apache-2.0 */
/* Taking checkpoints of a kernel: the thread that does, and the last one. */
#ifndef GYRE_CORE_DURABILITY_CHECKPOINT_TAKE_H
#define GYRE_CORE_DURABILITY_CHECKPOINT_TAKE_H

#include "core/durability/checkpoint.h"

/** Starts the thread that takes them. */
gyre_status gyre_checkpoints_start(gyre_kernel *kernel);
/** Ends it. Without locks. Accepts a kernel without. */
void gyre_checkpoints_stop(gyre_kernel *kernel);
/**
 * The device has left in order, and its resident is not released yet: a kernel with a journal has a last checkpoint
 * taken, so that the next run handles nothing again. Under the lock, given up meanwhile. Accepts a kernel without.
 */
void gyre_checkpoints_finish(gyre_kernel *kernel);
/** Before a queue is freed: its requests are in a checkpoint. Without the lock. */
void gyre_checkpoints_settle(gyre_kernel *kernel, gyre_queue *queue);

#endif
