/* SPDX-License-Identifier: Apache-2.0 */
/* The size of a kernel's blocks, and the number of blocks that a multiprocessor holds. */
#ifndef GYRE_CUDA_SHAPE_H
#define GYRE_CUDA_SHAPE_H

#include "backends/cuda/cuda_backend.h"

/**
 * Threads and dynamic shared memory of a block of `lanes` lanes, one of `blocks`. `tight`: with less room for several messages
 * at once.
 */
void cuda_block_shape(const gyre_device *device, const struct cuda_kernel *kernel, uint32_t lanes,
                      uint32_t blocks, bool tight, uint32_t *threads, uint32_t *shared_size);
/** How many blocks of this kernel one multiprocessor holds, by its registers, threads and shared memory. */
uint32_t cuda_blocks_per_sm(const gyre_device *device, const struct cuda_kernel *kernel, uint32_t threads,
                            uint32_t shared_size);

#endif
