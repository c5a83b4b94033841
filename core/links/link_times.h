/* SPDX-License-Identifier: Apache-2.0 */
/* How long messages of links wait for their handlers: where that is counted (gyre_link_times in gyre/link_layout.h), and what was. */
#ifndef GYRE_CORE_LINKS_LINK_TIMES_H
#define GYRE_CORE_LINKS_LINK_TIMES_H

#include "core/links/pipeline.h"
#include "gyre/observe.h"

/**
 * Bytes of a link's times, behind its slots, for each of its rings; 0: the messages are not timed. They are where the device counts
 * times of links and the kernel that gets the messages has `timing`, with its `timing_every`.
 */
uint64_t gyre_link_times_size(const gyre_pipeline *pipeline, const struct gyre_link *link);
/** Writes the times' heads, for `rings` rings. The rest of the memory is 0. */
gyre_status gyre_link_times_write(const gyre_pipeline *pipeline, const struct gyre_link *link,
                                  const struct gyre_link_store *store, uint32_t rings);
/** Adds what was counted in `rings` rings to *out. Waits for no device: AGAIN while it is busy. */
gyre_status gyre_link_times_peek(const gyre_pipeline *pipeline, const struct gyre_link *link,
                                 const struct gyre_link_store *store, uint32_t rings,
                                 gyre_observe_histogram *out);

#endif
