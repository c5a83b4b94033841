/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the device for large spans of a queue's requests. */
#ifndef GYRE_CORE_KERNEL_SPAN_MEMORY_H
#define GYRE_CORE_KERNEL_SPAN_MEMORY_H

#include "core/kernel/kernel.h"

/**
 * Allocates the device memory that the section's span_handles asks for, for a new queue whose requests have tails.
 * INVALID, UNIMPLEMENTED or EXHAUSTED, with the reason why the setting cannot work there.
 */
gyre_status gyre_span_memory_create(gyre_kernel *kernel, const char *section, gyre_queue *queue);
/** After the queue was freed. Accepts NULL. */
void gyre_span_memory_destroy(gyre_buffer *memory);

#endif
