/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Levels of links: a kernel takes what came by a link of a higher level first (gyre_link_ring.level). Of 16 times that a block takes
 * messages it begins once at the link whose turn it is, so that no link waits for ever, which the arithmetic of cycles counts on. Called
 * with the pipeline's lock.
 */
#ifndef GYRE_CORE_LINKS_LINK_LEVEL_H
#define GYRE_CORE_LINKS_LINK_LEVEL_H

#include "core/links/pipeline.h"

/** Checks the level of a link, which is not added yet, and whose target is known. INVALID, UNIMPLEMENTED. */
gyre_status gyre_link_level_check(const gyre_pipeline *pipeline, const struct gyre_link *link);
/** Checks the levels of all links: no member of a pool has some. CONFIG or INVALID. */
gyre_status gyre_link_levels_check(const gyre_pipeline *pipeline);

#endif
