/* SPDX-License-Identifier: Apache-2.0 */
/* De-duplication: the stage that keeps a message from being sent again when its id was sent before. */
#ifndef GYRE_CORE_STAGES_KNOWN_H
#define GYRE_CORE_STAGES_KNOWN_H

#include "core/queue/queue.h"

/** Adds the stage, which knows the last `window` ids. EXHAUSTED. */
gyre_status gyre_known_create(gyre_queue *queue, uint32_t window);

#endif
