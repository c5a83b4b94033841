/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings out how long the handlers of a kernel ran: the device counts in its own memory (dialect/cuda_times.h), and the monitor
 * copies the counts into the control region.
 */
#ifndef GYRE_CUDA_TIMES_H
#define GYRE_CUDA_TIMES_H

#include "backends/cuda/cuda_resident.h"

/** Makes what a kernel needs whose handlers' times the core wants. Without memory for it the times stay unknown. */
void cuda_times_prepare(gyre_resident *resident);
/** The word that tells the device where it counts (GYRE_LOG_TIMES_WORD); 0: it does not. */
uint32_t cuda_times_word(const gyre_resident *resident);
/** Copies what is new, at most ten times a second. The caller holds residents->lock, and the context is current. */
void cuda_times_look(gyre_resident *resident);
/** Accepts a resident without times. */
void cuda_times_finish(gyre_resident *resident);

#endif
