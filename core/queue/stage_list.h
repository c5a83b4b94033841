/* SPDX-License-Identifier: Apache-2.0 */
/* Adds stages (stage.h) to a queue, and takes them away. */
#ifndef GYRE_CORE_QUEUE_STAGE_LIST_H
#define GYRE_CORE_QUEUE_STAGE_LIST_H

#include "core/queue/stage.h"

/** Adds a stage and its state to a queue that no other thread uses. The state is not NULL, and the queue owns it from now
 * on. */
void gyre_stage_add(gyre_queue *queue, const struct gyre_queue_stage *stage, void *state);

/** As gyre_stage_add, for a stage that needs to see only messages whose index is a multiple of `every`, a power of two, at the
 * stations `grant`, `sent` and `taken`. It may see others as well. */
void gyre_stage_add_sparse(gyre_queue *queue, const struct gyre_queue_stage *stage, void *state,
                           uint64_t every);

/** Takes a stage away again and destroys its state. Accepts a queue without that stage. */
void gyre_stage_remove(gyre_queue *queue, unsigned number);

#endif
