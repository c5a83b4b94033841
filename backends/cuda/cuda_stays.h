/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how long kernels stay on their device. */
#ifndef GYRE_CUDA_STAYS_H
#define GYRE_CUDA_STAYS_H

#include "cuda_resident.h"

/** Makes the events of a kernel whose stays are to be measured. Context current. */
gyre_status cuda_stays_prepare(gyre_resident *resident);
/** Record an event before and behind the launch, in its stream. */
void cuda_stay_begins(gyre_resident *resident);
void cuda_stay_ends(gyre_resident *resident);
/** Counts a stay after its end was seen. Under residents->lock, context current. */
void cuda_stay_count(gyre_resident *resident);
/** Frees the events. Accepts a resident without events. Context current. */
void cuda_stays_finish(gyre_resident *resident);

#endif
