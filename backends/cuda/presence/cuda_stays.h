/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures a kernel's stays: a stay is the time from a launch of the kernel on its device until it leaves the
 * device.
 */
#ifndef GYRE_CUDA_STAYS_H
#define GYRE_CUDA_STAYS_H

#include "backends/cuda/cuda_resident.h"

/** Makes the events of a kernel whose stays are to be measured. The context is current. */
gyre_status cuda_stays_prepare(gyre_resident *resident);
/** The two functions record an event before and after the launch, in the kernel's stream. */
void cuda_stay_begins(gyre_resident *resident);
void cuda_stay_ends(gyre_resident *resident);
/**
 * Adds the stay that just ended to the kernel's figures. Call once its end was seen. The caller holds
 * residents->lock, and the context is current.
 */
void cuda_stay_count(gyre_resident *resident);
/** Frees the events. Accepts a resident without events. The context is current. */
void cuda_stays_finish(gyre_resident *resident);

#endif
