/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that handlers log, handed to the program. */
#ifndef GYRE_CUDA_LOG_H
#define GYRE_CUDA_LOG_H

#include "cuda_resident.h"

/** Hands on the lines that handlers logged since the last time. Under residents->lock, context current. */
void cuda_log_drain(gyre_resident *resident);
/** The same, unless no message was handled since the last look, for then no line was logged. */
void cuda_log_look(gyre_resident *resident);

#endif
