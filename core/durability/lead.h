/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel that leads the checkpoints of its pipeline: the first stage that has some. The checkpoints of all stages count at one moment
 * (core/links/kept.h), and the queues by which requests enter have their logs with the leader: what these cover counts with the leader's
 * checkpoint, and what came since is handled again through other queues that enter the pipeline (lead_repeat.c).
 *
 * Only a request at a time that has no completion is handled again so, and nothing else beside it: so it is known which one took a worker
 * down, and the order is that in which requests were taken. Requests with a completion go as fast as they can.
 */
#ifndef GYRE_CORE_DURABILITY_LEAD_H
#define GYRE_CORE_DURABILITY_LEAD_H

#include "core/durability/checkpoint.h"
#include "core/kernel/keeper.h"
#include "core/queue/queue.h"

/** The queues whose requests a kernel's checkpoints cover: its own, and of one that leads the entry of its pipeline. Under its lock. */
gyre_queue *gyre_lead_first(const struct gyre_checkpoints *checkpoints, const gyre_kernel *kernel);
gyre_queue *gyre_lead_next(const struct gyre_checkpoints *checkpoints, const gyre_queue *queue);

/* The calls of core/kernel/keeper.h. */
gyre_status gyre_lead(struct gyre_checkpoints *checkpoints, const struct gyre_led *led);
void gyre_lead_no_more(struct gyre_checkpoints *checkpoints);
bool gyre_lead_prepare(const struct gyre_checkpoints *checkpoints);
gyre_status gyre_lead_repeat(struct gyre_checkpoints *checkpoints,
                             bool (*watch)(void *context, uint64_t deadline_ns), void *context);

#endif
