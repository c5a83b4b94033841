/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks whose handlers are slow count each message, so that whoever looks from outside sees them at work. */
#ifndef GYRE_CORE_KERNEL_COUNT_SOON_H
#define GYRE_CORE_KERNEL_COUNT_SOON_H

#include "core/kernel/kernel.h"

/**
 * Looks how fast the kernel is, which has completed `handled` messages so far, and asks its blocks to count sooner or not. Under the
 * lock; by the thread that copies the counts, again and again.
 */
void gyre_kernel_count_soon(gyre_kernel *kernel, uint64_t handled);
/** Takes back what was asked by a queue, which leaves the kernel. Under the lock where the queue is in a list. */
void gyre_kernel_count_as_usual(gyre_queue *queue);

#endif
