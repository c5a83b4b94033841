/* SPDX-License-Identifier: Apache-2.0 */
/* The stage that measures when messages are sent, handled and received, for kernels that were compiled to stamp messages. */
#ifndef GYRE_CORE_STAGES_TIMING_H
#define GYRE_CORE_STAGES_TIMING_H

#include "core/queue/queue.h"

/** Adds the stage. EXHAUSTED. */
gyre_status gyre_timing_create(gyre_queue *queue);

#endif
