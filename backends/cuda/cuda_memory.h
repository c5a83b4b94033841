/* SPDX-License-Identifier: Apache-2.0 */
/* Queues and buffers: host memory that the device sees, and memory of the device. */
#ifndef GYRE_CUDA_MEMORY_H
#define GYRE_CUDA_MEMORY_H

#include "cuda_resident.h"

gyre_status cuda_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc, gyre_queue_memory **out,
                             uint64_t *device_address);
void cuda_queue_release(gyre_queue_memory *memory);
gyre_status cuda_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out);
void cuda_memory_release(gyre_memory *memory);
gyre_status cuda_memory_address(gyre_memory *memory, uint64_t *address);

/** Registers host memory that the device is to see. Context current. */
gyre_status cuda_host_register(gyre_device *device, void *address, size_t size);
/** Takes that back, in a quiet moment; residents->lock is not held. */
void cuda_host_unregister(gyre_device *device, void *address);
/**
 * Gives freed memory that the pool keeps back to the device, while kernels are away: true when it was more
 * than none, so that what failed for want of memory may be tried once more. residents->lock is not held.
 */
bool cuda_reclaim(gyre_device *device);
/** Where a buffer lies on the device. */
uint64_t cuda_memory_place(const gyre_memory *memory);

#endif
