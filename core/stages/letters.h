/* SPDX-License-Identifier: Apache-2.0 */
/* Dead letters: the stage that keeps a copy of each request that no handler will handle any more. */
#ifndef GYRE_CORE_STAGES_LETTERS_H
#define GYRE_CORE_STAGES_LETTERS_H

#include "core/queue/queue.h"

/** Adds the stage, which keeps at most `limit` letters, more than 0. EXHAUSTED. */
gyre_status gyre_letters_create(gyre_queue *queue, uint64_t limit);

#endif
