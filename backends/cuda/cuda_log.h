/* SPDX-License-Identifier: Apache-2.0 */
/* What handlers log. */
#ifndef GYRE_CUDA_LOG_H
#define GYRE_CUDA_LOG_H

#include "cuda_resident.h"

/** Passes on what handlers logged since the last time. Under residents->lock, context current. */
void cuda_log_drain(gyre_resident *resident);
/** The same unless nothing was handled since the last look: then nothing was logged either. */
void cuda_log_look(gyre_resident *resident);

#endif
