/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links that form cycles: which ones do, what they hold, and how many flows that allows (cycles.c). Called with the pipeline's
 * lock.
 */
#ifndef GYRE_CORE_LINKS_CYCLES_H
#define GYRE_CORE_LINKS_CYCLES_H

#include "core/links/pipeline.h"

/** Whether there is a way from a node to another one, or back to itself. */
bool gyre_links_lead(const gyre_pipeline *pipeline, int from, int to);
/**
 * Whether a link may come while the pipeline is open, which has it already: it forms no cycle, and leads no tap into one.
 * INVALID.
 */
gyre_status gyre_cycles_allow(const gyre_pipeline *pipeline, const struct gyre_link *link);
/** Finds the links that form cycles, and what forbids one. INVALID, UNIMPLEMENTED. */
gyre_status gyre_cycles_find(gyre_pipeline *pipeline, const struct gyre_wiring_config *wiring);
/** Whether the node's kernel can count the flows of the pipeline, where that limits them, and asks, where kernels ask. INVALID. */
gyre_status gyre_cycles_count_by(const gyre_pipeline *pipeline, int node);
/** How many messages a block may take at once from a ring of the link; 0: as it likes. */
uint32_t gyre_cycles_run(const gyre_pipeline *pipeline, const struct gyre_link *link);
/** As gyre_link_counts has it. */
struct gyre_cycle_room {
    uint64_t messages, section, held;
};
struct gyre_cycle_room gyre_cycles_room(const gyre_pipeline *pipeline, const struct gyre_link *link);
/** The least capacity from `least` on, and up to `bound`, that holds what the window and the quota allow. */
uint64_t gyre_cycles_least(const gyre_pipeline *pipeline, const struct gyre_link *link, uint64_t least,
                           uint64_t bound);
/** Decides how many flows may be under way, once capacities are chosen. INVALID when a link of a cycle is too small. */
gyre_status gyre_cycles_admit(gyre_pipeline *pipeline, const struct gyre_wiring_config *wiring);

#endif
