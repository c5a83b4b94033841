/* SPDX-License-Identifier: Apache-2.0 */
/* Takes checkpoints of a kernel: the thread that takes them while the kernel runs, and the last checkpoint at its end. */
#ifndef GYRE_CORE_DURABILITY_CHECKPOINT_TAKE_H
#define GYRE_CORE_DURABILITY_CHECKPOINT_TAKE_H

#include "core/durability/checkpoint.h"

/** Starts the checkpoint thread. No effect on a kernel without checkpoints. */
gyre_status gyre_checkpoints_start(gyre_kernel *kernel);
/** Ends the checkpoint thread. Without locks. No effect on a kernel without checkpoints. */
void gyre_checkpoints_stop(gyre_kernel *kernel);
/**
 * Takes a last checkpoint of a kernel with a journal, so that the next run handles nothing again. The device has left
 * normally, and its resident is not released yet. Under kernel->lock, given up meanwhile. No effect without checkpoints.
 */
void gyre_checkpoints_finish(gyre_kernel *kernel);
/**
 * Takes a checkpoint of a kernel that stands because another body is to go on (keeper.h). AGAIN: the kernel was revived meanwhile. Under
 * kernel->lock, given up meanwhile. No effect without checkpoints.
 */
gyre_status gyre_checkpoints_stand(gyre_kernel *kernel);
/** Call before a queue is freed, without kernel->lock. Returns when a checkpoint covers the queue's requests. */
void gyre_checkpoints_settle(gyre_kernel *kernel, gyre_queue *queue);

#endif
