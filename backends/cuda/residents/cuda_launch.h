/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations that launch a kernel, wait for its end, and free it. Where a launch reaches the GPU: see
 * cuda_resident.h.
 */
#ifndef GYRE_CUDA_LAUNCH_H
#define GYRE_CUDA_LAUNCH_H

#include "backends/cuda/cuda_backend.h"

gyre_status cuda_launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out);
gyre_status cuda_wait(gyre_resident *resident, uint64_t deadline_ns);
void cuda_release(gyre_resident *resident);

#endif
