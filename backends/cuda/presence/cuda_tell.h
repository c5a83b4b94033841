/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells in each block's line of the control region which run of messages the block works on, and since when.
 */
#ifndef GYRE_CUDA_TELL_H
#define GYRE_CUDA_TELL_H

#include "backends/cuda/cuda_resident.h"

/** Makes room for a copy of the notes that the blocks write on the device. */
gyre_status cuda_tell_prepare(gyre_resident *resident);
/**
 * Notes in the lines of a launched kernel whether the backend will tell there what its blocks work on. It
 * does not where calls into the driver wait for kernels.
 */
void cuda_tell_present(const gyre_resident *resident);
/**
 * If it is time to look, copies the blocks' notes from the device and writes them into the blocks' lines. The
 * caller holds residents->lock, the context is current, and calls into the driver do not wait for kernels.
 */
void cuda_tell_look(gyre_resident *resident);
/**
 * Writes that the blocks work on nothing, because the kernel left the device. The caller holds
 * residents->lock.
 */
void cuda_tell_gone(gyre_resident *resident);
/** Frees the copy. Accepts a resident without a copy. */
void cuda_tell_finish(gyre_resident *resident);

#endif
