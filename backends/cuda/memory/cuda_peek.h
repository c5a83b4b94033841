/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of device memory for those who must not wait for the device (gyre/peek.h). */
#ifndef GYRE_CUDA_PEEK_H
#define GYRE_CUDA_PEEK_H

#include "backends/cuda/cuda_resident.h"

/** A buffer (cuda_memory.h). */
struct gyre_memory {
    gyre_device *device;
    CUdeviceptr address;
};

/** The operation of gyre_peek_ops. */
gyre_status cuda_peek(gyre_device *device, gyre_memory *memory, uint64_t offset, gyre_u64 *words,
                      uint64_t byte_count);
/** Copies anew what was asked for, at most ten times a second. The caller is the monitor, and the context is current. */
void cuda_peek_look(gyre_device *device);
/** Forgets the copies of a buffer, before its memory is freed. The caller does not hold residents->lock. */
void cuda_peek_forget(gyre_device *device, const gyre_memory *memory);

#endif
