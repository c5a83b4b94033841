/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU made of threads: a launch starts one that obeys orders as resident kernels do, device memory is the
 * heap's. With `gpu_blocks` a launch returns only when its kernel has left, and keeps the driver to itself
 * meanwhile: the worst that CUDA_LAUNCH_BLOCKING and profilers can do.
 */
#ifndef GYRE_TESTS_UNIT_CUDA_RESIDENTS_GPU_H
#define GYRE_TESTS_UNIT_CUDA_RESIDENTS_GPU_H

#include "backends/cuda/cuda_resident.h"

extern const struct cuda_driver gpu_driver;
/** Set before a kernel is launched. */
extern bool gpu_blocks;
/** Kernels on the device now, and the most there ever were. */
extern uint32_t gpu_present, gpu_most;
/** Bytes of device memory. What is freed stays with the pool until that is trimmed, and is not used again. */
extern size_t gpu_memory;

/**
 * Lets the call number `first` (from 1, counted from now on) and those after it, `times` in all, answer so
 * instead of being made; after a fatal answer all of them, and kernels die. 0: none fails. Empties the pool.
 */
void gpu_fail(uint32_t first, CUresult answer, uint32_t times);
/** The next cuStreamQuery, which is not among the numbered calls, or cuStreamSynchronize behind a kernel answers so. */
void gpu_fail_query(CUresult answer);
uint32_t gpu_calls(void);
/** Which one failed first: "launch", "stream_query", ...; NULL: none. */
const char *gpu_failed_call(void);

/** Bytes of the largest single copy since the last call of the other. */
size_t gpu_copied_at_most(void);
void gpu_forget_copies(void);

#endif
