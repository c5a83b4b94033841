/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU made of threads: a launch starts one that obeys orders as resident kernels do, device memory is the
 * heap's. With `gpu_blocks` a launch returns only when its kernel has left, and keeps the driver to itself
 * meanwhile: the worst that CUDA_LAUNCH_BLOCKING and profilers can do.
 */
#ifndef GYRE_TESTS_UNIT_CUDA_RESIDENTS_GPU_H
#define GYRE_TESTS_UNIT_CUDA_RESIDENTS_GPU_H

#include "cuda_resident.h"

extern const struct cuda_driver gpu_driver;
/** Set before a kernel is launched. */
extern bool gpu_blocks;
/** Kernels on the device now, and the most there ever were. */
extern uint32_t gpu_present, gpu_most;
/** Bytes of the largest single copy since the last call of the other. */
size_t gpu_copied_at_most(void);
void gpu_forget_copies(void);

#endif
