/* SPDX-License-Identifier: Apache-2.0 */
/* Priorities: the line in which messages wait by their level (docs/adr/levels.md). */
#ifndef GYRE_CORE_STAGES_LEVELS_H
#define GYRE_CORE_STAGES_LEVELS_H

#include "core/stages/attendant.h"

/** Adds the stage, and its line to the queue. EXHAUSTED. */
gyre_status gyre_levels_create(gyre_queue *queue, const struct gyre_queue_options *options);

/** Its duty for the attendant, which the queue has then: moves messages into the ring. */
void gyre_levels_attend(gyre_queue *queue, uint64_t now_ns, struct gyre_due *due);

#endif
