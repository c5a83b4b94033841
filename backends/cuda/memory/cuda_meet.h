/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One kernel on each of several GPUs at the same time, whose blocks tell each other how far they are: the fast way of cuda_combine.c. The GPUs
 * are let into each other's memory, and no kernel of theirs may begin or end (residents->lock).
 */
#ifndef GYRE_CUDA_MEET_H
#define GYRE_CUDA_MEET_H

#include "backends/cuda/cuda_backend.h"
#include "gyre/peer.h"

enum { CUDA_MEET_BLOCKS_MAX = 256 };

/** Where a GPU is told how far the others are, and the host that it has finished. All 0: not made. */
struct cuda_meeting_place {
    CUdeviceptr memory;
    struct cuda_meeting_words *words;
};

struct cuda_meeting_part {
    gyre_device *device;
    const struct cuda_meeting_place *place;
    CUfunction function;
    CUdeviceptr own, before; /* of the first element */
    bool launched;           /* what it began is finished, and `before` has all of what was there */
};

/** Makes the place, unless it is made. */
gyre_status cuda_meeting_place_make(gyre_device *device, struct cuda_meeting_place *place);
/** No kernel is on the device. */
void cuda_meeting_place_destroy(gyre_device *device, struct cuda_meeting_place *place);
/**
 * Runs the kernels, each on a GPU of its own, with so many blocks, and waits for them. Part i computes the bytes from from[i] to
 * from[i + 1]. TIMEOUT: they were not through until `deadline_ns`, or until another meeting of this process was over. A GPU whose kernel was
 * told to leave, and does not in ten seconds, is lost. After a failure no kernel runs any more on the others, and memory of the
 * parts that were launched is to be put back.
 */
gyre_status cuda_meet(struct cuda_meeting_part *parts, uint32_t count, const uint64_t *from, uint32_t blocks,
                      uint64_t deadline_ns);

#endif
