/* SPDX-License-Identifier: Apache-2.0 */
/* Which queues of a kernel its device sees, from the next command on. Under kernel->lock. */
#ifndef GYRE_CORE_KERNEL_QUEUE_TABLE_H
#define GYRE_CORE_KERNEL_QUEUE_TABLE_H

#include "core/kernel/kernel.h"

/** Writes the table entry of a listed queue, from its first unanswered request on. */
void gyre_kernel_write_entry(gyre_kernel *kernel, gyre_queue *queue);
/** Clears every entry of the table, including those that a worker process overwrote. */
void gyre_kernel_clear_table(gyre_kernel *kernel);
/** Shows the device one queue alone, which is not in the list. */
void gyre_kernel_show_only(gyre_kernel *kernel, gyre_queue *queue);
/**
 * Writes every entry of the table for a device that starts anew: the address at which the device sees the queue, and the
 * first index that it has to handle. With `resume` that is the first unanswered request, else the index that its entry has.
 * Queues whose gate is 0 are left out. Only while no device runs.
 */
void gyre_kernel_write_table(gyre_kernel *kernel, bool resume);
/** Shows the device a queue that was left out, from its first unanswered request on. */
void gyre_kernel_show_queue(gyre_kernel *kernel, gyre_queue *queue);
/** Shows the device the queue's requests below index `gate` only. */
void gyre_kernel_set_gate(gyre_queue *queue, uint64_t gate);

#endif
