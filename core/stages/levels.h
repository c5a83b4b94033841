/* SPDX-License-Identifier: Apache-2.0 */
/* Priorities: the stage that lets messages wait in front of the ring by their level (docs/adr/levels.md). */
#ifndef GYRE_CORE_STAGES_LEVELS_H
#define GYRE_CORE_STAGES_LEVELS_H

#include "core/stages/attendant.h"

/** Adds the stage, and gives the queue its line, the list in which messages wait in front of the ring. EXHAUSTED. */
gyre_status gyre_levels_create(gyre_queue *queue, const struct gyre_queue_options *options);

/** The stage's duty for the queue's attendant (attendant.h): moves waiting messages into the ring. */
void gyre_levels_attend(gyre_queue *queue, uint64_t now_ns, struct gyre_due *due);

#endif
