/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the device for large spans of a queue's requests. */
#ifndef GYRE_CORE_KERNEL_SPAN_MEMORY_H
#define GYRE_CORE_KERNEL_SPAN_MEMORY_H

#include "core/kernel/kernel.h"

/**
 * Gives a queue that was just made the memory that its section asks for with span_handles, if its requests
 * have tails. INVALID, UNIMPLEMENTED or EXHAUSTED, and why the setting cannot work there.
 */
gyre_status gyre_span_memory_create(gyre_kernel *kernel, const char *section, gyre_queue *queue);
/** After the queue was freed. Accepts NULL. */
void gyre_span_memory_destroy(gyre_buffer *memory);

#endif
