/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory into which a queue moves large spans (arrays in requests). Which spans move: core/stages/spans.h. */
#ifndef GYRE_CORE_KERNEL_SPAN_MEMORY_H
#define GYRE_CORE_KERNEL_SPAN_MEMORY_H

#include "core/kernel/kernel.h"

/**
 * Allocates the device memory that span_handles in the section asks for, for a new queue whose requests have tails (parts
 * behind the fixed fields). INVALID, UNIMPLEMENTED or EXHAUSTED, with the reason why the setting cannot work for the queue.
 */
gyre_status gyre_span_memory_create(gyre_kernel *kernel, const char *section, gyre_queue *queue);
/** Frees the memory, after its queue was freed. Accepts NULL. */
void gyre_span_memory_destroy(gyre_buffer *memory);

#endif
