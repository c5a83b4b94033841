/* SPDX-License-Identifier: Apache-2.0 */
/* Spans of messages that lie in device buffers. */
#ifndef GYRE_CORE_KERNEL_SPANS_H
#define GYRE_CORE_KERNEL_SPANS_H

#include "core/kernel/kernel.h"

/** Writes into a request where its buffers are now, by the kernel's table. */
void gyre_spans_settle(const gyre_kernel *kernel, void *request, uint64_t length);
/** Of one far part of a request of that queue. */
void gyre_span_settle(const gyre_queue *queue, gyre_far *far);
/** The same for every unanswered request of its queues. Takes the lock; no device is there. */
void gyre_spans_relocate(gyre_kernel *kernel);

#endif
