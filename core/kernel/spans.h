/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of spans (arrays that a message names) that lie in device buffers. */
#ifndef GYRE_CORE_KERNEL_SPANS_H
#define GYRE_CORE_KERNEL_SPANS_H

#include "core/kernel/kernel.h"

/** Writes the present addresses of its buffers into a request, from the kernel's table. */
void gyre_spans_settle(const gyre_kernel *kernel, void *request, uint64_t length);
/** Writes the present address of one far part (a part that lies in a buffer) of a request of the queue. */
void gyre_span_settle(const gyre_queue *queue, gyre_far *far);
/** Does what gyre_spans_settle does for every unanswered request of the kernel. Takes kernel->lock; only while
 * no device runs. */
void gyre_spans_relocate(gyre_kernel *kernel);

#endif
