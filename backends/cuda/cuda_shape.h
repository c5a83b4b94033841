/* SPDX-License-Identifier: Apache-2.0 */
/* The size of the blocks of a kernel, and the number of them that a multiprocessor holds. */
#ifndef GYRE_CUDA_SHAPE_H
#define GYRE_CUDA_SHAPE_H

#include "cuda_backend.h"

/** Threads and dynamic shared memory of a block of `lanes` lanes; `tight`: with less for more messages than one. */
void cuda_block_shape(const gyre_device *device, const struct cuda_kernel *kernel, uint32_t lanes, bool tight,
                      uint32_t *threads, uint32_t *shared_size);
/** The number of such blocks that one multiprocessor holds, by its registers, threads and shared memory. */
uint32_t cuda_blocks_per_sm(const gyre_device *device, const struct cuda_kernel *kernel, uint32_t threads,
                            uint32_t shared_size);

#endif
