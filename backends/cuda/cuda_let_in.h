/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs that let each other into their memory. */
#ifndef GYRE_CUDA_LET_IN_H
#define GYRE_CUDA_LET_IN_H

#include "cuda_backend.h"

/** Lets `source` into the memory of `target`, where it is not yet. Kernels of both make room for that. */
gyre_status cuda_let_in(gyre_device *source, gyre_device *target);

#endif
