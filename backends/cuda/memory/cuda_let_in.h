/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs that let each other into their memory. */
#ifndef GYRE_CUDA_LET_IN_H
#define GYRE_CUDA_LET_IN_H

#include "backends/cuda/cuda_backend.h"
#include "gyre/peer.h"

/**
 * Lets `source` into the memory of `target`, where it is not yet. Kernels of both make room for that, until `deadline_ns`. UNIMPLEMENTED
 * where cuda_can_let_in says no.
 */
gyre_status cuda_let_in(gyre_device *source, gyre_device *target, uint64_t deadline_ns);
/** Whether cuda_let_in has a way for this. Where it has none, copies go by the driver's own ways. */
bool cuda_can_let_in(const gyre_device *source, const gyre_device *target);
/** Whether `source` may touch the memory of `target`. */
bool cuda_is_let_in(const gyre_device *source, const gyre_device *target);
/** cuda_let_in for each two GPUs of a collective, in both directions, until its deadline. */
gyre_status cuda_let_in_all(const gyre_combine_desc *desc);

#endif
