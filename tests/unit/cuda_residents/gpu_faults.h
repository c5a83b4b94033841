/* SPDX-License-Identifier: Apache-2.0 */
/* What gpu.c asks before it makes a call; what tests set stands in gpu.h. */
#ifndef GYRE_TESTS_UNIT_CUDA_RESIDENTS_GPU_FAULTS_H
#define GYRE_TESTS_UNIT_CUDA_RESIDENTS_GPU_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

void gpu_faults_set(uint32_t first, CUresult answer, uint32_t times);
/** What the call of that name is to answer instead of being made; CUDA_SUCCESS: it is made. Counts it. */
CUresult gpu_next_fault(const char *name);
/** The same for cuStreamQuery, and for cuStreamSynchronize behind a kernel, besides; not counted. */
CUresult gpu_next_query_fault(void);
/** A fatal answer was given: kernels die. */
bool gpu_is_dead(void);

#endif
