/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers between the program's memory and buffers, and from one buffer to another. */
#ifndef GYRE_CUDA_TRANSFER_H
#define GYRE_CUDA_TRANSFER_H

#include "backends/cuda/cuda_backend.h"

gyre_status cuda_transfer(gyre_device *device, const gyre_transfer_desc *desc);
gyre_status cuda_memory_copy(gyre_device *device, const gyre_copy_desc *desc);
/**
 * Begins a copy from memory of the device to memory of a device. Until cuda_hold_end(device, *quiet) nothing is launched, so that
 * the driver finds room for a kernel of its own if it copies by one.
 */
gyre_status cuda_copy_begin(gyre_device *device, bool *quiet);
/** Until cuda_hold_end: multiprocessors that no kernel takes, of those that Gyre may use. */
uint32_t cuda_free_sms(const gyre_device *device, bool quiet);
/**
 * Frees the pinned pieces and streams that are kept from one transfer to the next. Called before the device
 * is closed.
 */
void cuda_carriers_destroy(gyre_device *device);

#endif
