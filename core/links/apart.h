/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipeline whose kernels are on several devices. Those whose links lie in memory of this process (GYRE_LINKING_SHARED) are joined as
 * if they were of one device. The others are apart: the kernels of each such device form a part, a pipeline of their own without
 * clients, which stations (station.h) join to the rest. A message that leads into a part is a request there, and what it causes there
 * is settled before the message is.
 */
#ifndef GYRE_CORE_LINKS_APART_H
#define GYRE_CORE_LINKS_APART_H

#include "core/links/wiring_config.h"

struct gyre_link;

/**
 * Finds the parts of a resolved pipeline, and has its nodes that are apart look like those of stations. Does nothing without such
 * nodes. UNIMPLEMENTED with a sentence for what a part cannot have; EXHAUSTED.
 */
gyre_status gyre_parts_plan(gyre_pipeline *pipeline, const struct gyre_wiring_config *wiring);
/** Makes the pipelines and stations of the parts. The pipeline has the memory of its links, and no entry is open yet. */
gyre_status gyre_parts_make(gyre_pipeline *pipeline, const struct gyre_wiring_config *wiring);
/** Ends the stations, and takes the parts apart. TIMEOUT when a handler does not return: may be called again. */
gyre_status gyre_parts_end(gyre_pipeline *pipeline);
/** Frees what gyre_parts_end has taken apart. */
void gyre_parts_free(gyre_pipeline *pipeline);
/** A handler of a part may never return: its kernels leave their memory to it. */
void gyre_parts_leave_behind(gyre_pipeline *pipeline);

/** The pipeline that has a link: that of a part for one between two of its kernels. *link becomes that one's. */
const gyre_pipeline *gyre_parts_home(const gyre_pipeline *pipeline, const struct gyre_link **link);

#endif
