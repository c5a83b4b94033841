/* SPDX-License-Identifier: Apache-2.0 */
/* Tells in each block's line of the control region which run of messages it works on, and since when. */
#ifndef GYRE_CUDA_TELL_H
#define GYRE_CUDA_TELL_H

#include "cuda_resident.h"

/** Makes room for a copy of what the blocks note. */
gyre_status cuda_tell_prepare(gyre_resident *resident);
/** Says in the lines of a launched kernel that its blocks are told of, unless calls into the driver wait for kernels. */
void cuda_tell_present(const gyre_resident *resident);
/**
 * Copies the blocks' notes from the device and writes them into the blocks' lines, if it is time to look. Under
 * residents->lock, context current, where calls into the driver do not wait for kernels.
 */
void cuda_tell_look(gyre_resident *resident);
/** The kernel left the device: its blocks work on nothing. Under residents->lock. */
void cuda_tell_gone(gyre_resident *resident);
/** Frees the copy. Accepts a resident without one. */
void cuda_tell_finish(gyre_resident *resident);

#endif
