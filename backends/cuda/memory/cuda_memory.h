/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of queues (host memory that the device sees) and of buffers (memory of the device). */
#ifndef GYRE_CUDA_MEMORY_H
#define GYRE_CUDA_MEMORY_H

#include "backends/cuda/cuda_resident.h"

gyre_status cuda_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc, gyre_queue_memory **out,
                             uint64_t *device_address);
void cuda_queue_release(gyre_queue_memory *memory);
gyre_status cuda_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out);
void cuda_memory_release(gyre_memory *memory);
gyre_status cuda_memory_address(gyre_memory *memory, uint64_t *address);

/** Registers host memory, so that the device sees it: once for all devices of the process. The context is current. */
gyre_status cuda_host_register(gyre_device *device, void *address, size_t size);
/**
 * Unregisters host memory when the last device that registered it has said so, in a quiet moment (no kernel is on the device
 * in whose context it is). The caller holds no device's residents->lock.
 */
void cuda_host_unregister(void *address);
/**
 * Returns the freed memory that the pool keeps to the device, in a quiet moment. True if there was some: a
 * call that failed for want of memory may then be made once more. The caller does not hold residents->lock.
 */
bool cuda_reclaim(gyre_device *device);
/** The address of a buffer on the device. */
uint64_t cuda_memory_place(const gyre_memory *memory);

#endif
