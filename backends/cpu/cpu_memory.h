/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of queues and buffers in the CPU backend: memory of this process. */
#ifndef GYRE_CPU_MEMORY_H
#define GYRE_CPU_MEMORY_H

#include "backends/cpu/cpu_backend.h"

gyre_status cpu_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc, gyre_queue_memory **out,
                            uint64_t *device_address);
void cpu_queue_release(gyre_queue_memory *memory);
gyre_status cpu_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out);
void cpu_memory_release(gyre_memory *memory);
gyre_status cpu_transfer(gyre_device *device, const gyre_transfer_desc *desc);
gyre_status cpu_memory_address(gyre_memory *memory, uint64_t *address);
/** get_extension of the backend's table. */
gyre_status cpu_extension(gyre_device *device, const char *name, uint32_t version, const void **out);
gyre_status cpu_memory_copy(gyre_device *device, const gyre_copy_desc *desc);

#endif
