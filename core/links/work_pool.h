/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools: ports whose messages any block of several kernels takes. A port that leads to a pool has a link for each member
 * (gyre_link.pool), all of which lead to the same rings: those of the first. Pure: looks at the pipeline's own lists only.
 */
#ifndef GYRE_CORE_LINKS_WORK_POOL_H
#define GYRE_CORE_LINKS_WORK_POOL_H

#include "core/links/pipeline.h"

/** Whether two links are of one port that leads to a pool, and so have the same rings. */
bool gyre_work_pool_shares(const struct gyre_link *one, const struct gyre_link *other);
/** The link that has the rings: the first one of the same port, where that leads to a pool, else the link itself. */
const struct gyre_link *gyre_work_pool_first(const gyre_pipeline *pipeline, const struct gyre_link *link);
/** How many blocks take messages of the link's rings: those of its target, of a pool those of all members. */
uint32_t gyre_work_pool_takers(const gyre_pipeline *pipeline, const struct gyre_link *link);
/** gyre_link_ring.pool of the link's rings. */
uint32_t gyre_work_pool_word(const gyre_pipeline *pipeline, const struct gyre_link *link);

/** Checks a link to a member, which is not added yet. INVALID. */
gyre_status gyre_work_pool_check(const gyre_pipeline *pipeline, const struct gyre_link *link);
/** UNIMPLEMENTED, or CONFIG with the place, where a port leads to a pool, and the backend of the port or of a member has none. */
gyre_status gyre_work_pools_check_device(const gyre_pipeline *pipeline);

#endif
