/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds (supersteps): when every message of a request has been handled and nobody has replied, the kernel that [pipeline.NAME] names in
 * `rounds` is called for that request, and begins the next round by what it emits. Each kernel may be the one that handles the last message
 * of a round, so each has a link of Gyre's own to that kernel, behind its declared ports. Called with the pipeline's lock.
 */
#ifndef GYRE_CORE_LINKS_ROUNDS_H
#define GYRE_CORE_LINKS_ROUNDS_H

#include "core/links/pipeline.h"

/**
 * Adds the links by which rounds begin, if the pipeline has rounds. All other links are there. INVALID, NOT_FOUND or UNIMPLEMENTED, or
 * CONFIG with the place of the setting.
 */
gyre_status gyre_rounds_add(gyre_pipeline *pipeline, const struct gyre_wiring_config *wiring);
/** Bytes of the message that begins a round by the link: all of them are zero. 0: it is no such link. */
uint32_t gyre_rounds_size(const gyre_pipeline *pipeline, const struct gyre_link *link);

#endif
