/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues and buffers of a device in a worker: the operations, each implemented by the function of its slot's name.
 * Private to this folder.
 */
#ifndef GYRE_CORE_ISOLATION_PROXY_MEMORY_H
#define GYRE_CORE_ISOLATION_PROXY_MEMORY_H

#include "core/isolation/proxy_device.h"

gyre_status proxy_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc,
                              gyre_queue_memory **out, uint64_t *device_address);
void proxy_queue_release(gyre_queue_memory *memory);
gyre_status proxy_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out);
void proxy_memory_release(gyre_memory *memory);
gyre_status proxy_memory_address(gyre_memory *memory, uint64_t *address);
gyre_status proxy_transfer(gyre_device *device, const gyre_transfer_desc *desc);
gyre_status proxy_memory_copy(gyre_device *device, const gyre_copy_desc *desc);

#endif
