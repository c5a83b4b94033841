/* SPDX-License-Identifier: Apache-2.0 */
/* Hands the lines that handlers log to the program. */
#ifndef GYRE_CUDA_LOG_H
#define GYRE_CUDA_LOG_H

#include "backends/cuda/cuda_resident.h"

/**
 * Hands on the lines that handlers logged since the last call. The caller holds residents->lock, and the
 * context is current.
 */
void cuda_log_drain(gyre_resident *resident);
/**
 * Does what cuda_log_drain does if a message was handled since the last look. Otherwise no line can have been
 * logged.
 */
void cuda_log_look(gyre_resident *resident);

#endif
