/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that watches over the kernels of a GPU. */
#ifndef GYRE_CUDA_MONITOR_H
#define GYRE_CUDA_MONITOR_H

#include "backends/cuda/cuda_resident.h"

/** The thread's function. `argument` is a struct cuda_residents; the thread ends when its `leave` is set. */
void *cuda_residents_watch(void *argument);

#endif
