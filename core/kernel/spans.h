/* SPDX-License-Identifier: Apache-2.0 */
/* Spans of messages that lie in device buffers. */
#ifndef GYRE_CORE_KERNEL_SPANS_H
#define GYRE_CORE_KERNEL_SPANS_H

#include "core/kernel/kernel.h"

/** Writes the present addresses of its buffers into a request, from the kernel's table. */
void gyre_spans_settle(const gyre_kernel *kernel, void *request, uint64_t length);
/** The same for one far part of a request of that queue. */
void gyre_span_settle(const gyre_queue *queue, gyre_far *far);
/** The same for every unanswered request of the kernel's queues. Takes kernel->lock; only while no device runs. */
void gyre_spans_relocate(gyre_kernel *kernel);

#endif
