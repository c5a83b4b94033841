/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of memories of several GPUs, combined by NCCL: another way than that of cuda_combine.h. */
#ifndef GYRE_CUDA_NCCL_COMBINE_H
#define GYRE_CUDA_NCCL_COMBINE_H

#include "backends/cuda/cuda_backend.h"
#include "gyre/peer.h"

/**
 * Makes the GPUs ready to combine by NCCL, where `collectives` of [backend.cuda] wants that: opens the library and makes a communicator. False:
 * the collective goes another way; if that is not what the setting says, the log has a sentence why, once for each reason.
 */
bool cuda_nccl_prepare(const gyre_combine_desc *desc);
/** Whether cuda_nccl_combine makes this collective. Cheap. */
bool cuda_nccl_is_ready(const gyre_combine_desc *desc);
/**
 * Behind cuda_nccl_is_ready: combines, as combine of gyre/peer.h does, but sums of floats are in NCCL's order. Kernels leave the GPUs meanwhile,
 * and come back. After a failure the communicator is gone. TIMEOUT: NCCL was not through until the deadline.
 */
gyre_status cuda_nccl_combine(const gyre_combine_desc *desc);
/** Destroys the communicators that the device belongs to. Called before it is closed. */
void cuda_nccl_leave(gyre_device *device);

#endif
