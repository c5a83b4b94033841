/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of queues and buffers, and transfers between program and device. */
#ifndef GYRE_OPENCL_MEMORY_H
#define GYRE_OPENCL_MEMORY_H

#include "backends/opencl/opencl_backend.h"

gyre_status opencl_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc,
                               gyre_queue_memory **out, uint64_t *device_address);
void opencl_queue_release(gyre_queue_memory *memory);
/** The memory of the queue whose region lies at this address; NULL: there is none. From any thread. */
gyre_queue_memory *opencl_queue_find(gyre_device *device, gyre_u64 address);
gyre_status opencl_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out);
void opencl_memory_release(gyre_memory *memory);
gyre_status opencl_transfer(gyre_device *device, const gyre_transfer_desc *desc);
gyre_status opencl_memory_copy(gyre_device *device, const gyre_copy_desc *desc);
gyre_status opencl_memory_address(gyre_memory *memory, uint64_t *address);
/**
 * Tells the device which buffers the messages to `kernel` may name from now on: the buffers of the table,
 * which has GYRE_HANDLES_MAX entries. A buffer must leave the table before it is freed, because the driver
 * looks at every buffer of the table.
 */
gyre_status opencl_name_buffers(const gyre_device *device, cl_kernel kernel,
                                const gyre_control_handle *table);

#endif
