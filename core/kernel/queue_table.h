/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue table of a kernel: tells the device which queues to serve, and from which request on. A change takes effect with
 * the next command to the device. Call under kernel->lock.
 */
#ifndef GYRE_CORE_KERNEL_QUEUE_TABLE_H
#define GYRE_CORE_KERNEL_QUEUE_TABLE_H

#include "core/kernel/kernel.h"

/**
 * True when the queue's requests are handled again after the death of the device by one block, in their order: no request
 * behind the first unanswered one counts as done. False as well after a run with several blocks whose checkpoint covers such
 * requests.
 */
bool gyre_kernel_repeats_in_order(const gyre_kernel *kernel, const gyre_queue *queue);
/** Writes the table entry of a listed queue, from its first unanswered request on. */
void gyre_kernel_write_entry(gyre_kernel *kernel, gyre_queue *queue);
/** Clears every entry of the table, including those that a worker process overwrote. */
void gyre_kernel_clear_table(gyre_kernel *kernel);
/** Shows the device only `queue`, which is not in the kernel's list. */
void gyre_kernel_show_only(gyre_kernel *kernel, gyre_queue *queue);
/**
 * Writes every entry of the table for a device that starts anew: the address at which the device sees the queue, and the
 * first index that it has to handle. With `resume` that index is the first unanswered request; without, it stays as it is in
 * the entry. Leaves out queues whose gate is closed. Only while no device runs.
 */
void gyre_kernel_write_table(gyre_kernel *kernel, bool resume);
/** Shows the device a queue that was left out, from its first unanswered request on. */
void gyre_kernel_show_queue(gyre_kernel *kernel, gyre_queue *queue);
/** Hides the whole queue from the next device, until its gate is set. Shows nothing to a device that runs. */
void gyre_kernel_close_gate(gyre_queue *queue);
/** Shows the device the queue's requests below index `gate` only; UINT64_MAX: all. */
void gyre_kernel_set_gate(gyre_queue *queue, uint64_t gate);

#endif
