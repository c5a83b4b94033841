/* SPDX-License-Identifier: Apache-2.0 */
/* Which queues of a kernel its device sees, from the next command on. Under kernel->lock. */
#ifndef GYRE_CORE_KERNEL_QUEUE_TABLE_H
#define GYRE_CORE_KERNEL_QUEUE_TABLE_H

#include "core/kernel/kernel.h"

/** Writes the entry of a queue of the list, from its first unanswered request on. */
void gyre_kernel_write_entry(gyre_kernel *kernel, gyre_queue *queue);
/** Takes every entry out of the table, also those that a worker wrote there. */
void gyre_kernel_clear_table(gyre_kernel *kernel);
/** Puts a queue that is not in the list into the table, and no other. */
void gyre_kernel_show_only(gyre_kernel *kernel, gyre_queue *queue);
/**
 * Writes every entry of the table for a device that starts anew, with the addresses at which it sees the
 * queues now and the first index that it has to handle: `resume` says the first unanswered one, else what
 * stands there. Queues whose gate is 0 are left out. No device is there.
 */
void gyre_kernel_write_table(gyre_kernel *kernel, bool resume);
/** Puts a queue that was left out into the table, from its first unanswered request on. */
void gyre_kernel_show_queue(gyre_kernel *kernel, gyre_queue *queue);
/** Lets the device see a queue's requests below `gate`. */
void gyre_kernel_set_gate(gyre_queue *queue, uint64_t gate);

#endif
