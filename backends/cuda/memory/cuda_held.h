/* SPDX-License-Identifier: Apache-2.0 */
/* The GPUs of a collective, on which no kernel begins or ends meanwhile, and the bytes that take part. */
#ifndef GYRE_CUDA_HELD_H
#define GYRE_CUDA_HELD_H

#include "backends/cuda/cuda_backend.h"
#include "gyre/peer.h"

struct cuda_held {
    gyre_device *devices[GYRE_COMBINE_PARTS_MAX]; /* each once, in the order of the driver's numbers */
    bool quiet[GYRE_COMBINE_PARTS_MAX];           /* no kernel is on it */
    uint32_t count;
};

/** The GPUs of all parts. None is held yet. */
struct cuda_held cuda_held_of(const gyre_combine_desc *desc);
/** Holds residents->lock of all of them until cuda_held_end. After a failure none is held. */
gyre_status cuda_held_begin(struct cuda_held *held);
/** The same, and no kernel is on any of them; kernels come back with cuda_held_end. Fails when one does not leave until `deadline_ns`. */
gyre_status cuda_held_begin_quiet(struct cuda_held *held, uint64_t deadline_ns);
void cuda_held_end(struct cuda_held *held);
/** Where a device is in `devices`; it is there. */
uint32_t cuda_held_place(const struct cuda_held *held, const gyre_device *device);
/**
 * Waits until the service streams of all GPUs are empty, except for lost ones. Also behind a failure, which is `status`: what was launched may
 * still write. Returns the first failure.
 */
gyre_status cuda_held_await(const struct cuda_held *held, gyre_status status);

/** Where the elements of a part begin, from byte `from` of them on: in its memory, and in the memory for what they were. */
CUdeviceptr cuda_part_place(const gyre_combine_desc *desc, uint32_t part, uint64_t from);
CUdeviceptr cuda_part_before(const gyre_combine_desc *desc, uint32_t part, uint64_t from);
/** Begins to bring back what these bytes of a part were. No effect on a lost GPU. A failure is logged. */
void cuda_part_put_back(const gyre_combine_desc *desc, uint32_t part, uint64_t from, uint64_t size);

#endif
