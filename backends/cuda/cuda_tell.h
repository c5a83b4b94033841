/* SPDX-License-Identifier: Apache-2.0 */
/* What the blocks of a kernel are at, for those who wonder. */
#ifndef GYRE_CUDA_TELL_H
#define GYRE_CUDA_TELL_H

#include "cuda_resident.h"

/** Makes room for what blocks are at. */
gyre_status cuda_tell_prepare(gyre_resident *resident);
/** The blocks of a kernel that was launched will be told of, unless calls into the driver wait for it. */
void cuda_tell_present(const gyre_resident *resident);
/** Writes into the blocks' lines what they are at, if it is time to look. Under residents->lock, context current,
 * where calls into the driver do not wait for kernels. */
void cuda_tell_look(gyre_resident *resident);
/** It left the device: its blocks are at nothing. Under residents->lock. */
void cuda_tell_gone(gyre_resident *resident);
/** Accepts a resident that has no room for it. */
void cuda_tell_finish(gyre_resident *resident);

#endif
