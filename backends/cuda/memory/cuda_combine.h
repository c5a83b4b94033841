/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of memories of several GPUs, combined by the GPUs themselves: combine_prepare and combine of gyre/peer.h. */
#ifndef GYRE_CUDA_COMBINE_H
#define GYRE_CUDA_COMBINE_H

#include "backends/cuda/cuda_backend.h"
#include "gyre/peer.h"

gyre_status cuda_combine_prepare(const gyre_combine_desc *desc);
gyre_status cuda_combine(const gyre_combine_desc *desc);
/** Unloads the kernels of this file, and leaves the communicators of NCCL. Called before the device is closed. */
void cuda_combiners_destroy(gyre_device *device);

#endif
