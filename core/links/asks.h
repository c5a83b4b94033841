/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports that ask (ASK in gyre/kernel.h), and the links that lead their answers back. Such a link begins at a port that the asked
 * kernel does not declare: it comes behind the declared ones (gyre/link_layout.h). Called with the pipeline's lock.
 */
#ifndef GYRE_CORE_LINKS_ASKS_H
#define GYRE_CORE_LINKS_ASKS_H

#include "core/links/pipeline.h"

/** The type of the answers to what a port asks; NULL: it does not ask. */
const gyre_type *gyre_asks_reply(const gyre_kernel_record *record, uint32_t port);
/** Bytes of the largest message of the link, and of what stands in front of it in its slot. */
uint64_t gyre_link_payload(const gyre_pipeline *pipeline, const struct gyre_link *link);
/** The ports of a node, with those that Gyre adds: by which answers go back, and rounds begin (rounds.h). */
uint32_t gyre_asks_port_count(const gyre_pipeline *pipeline, int node);
/** The number of the type of a link's answers among those that its target takes; 0: the target takes one type, or it is no answers' link. */
uint32_t gyre_asks_choice(const gyre_pipeline *pipeline, const struct gyre_link *link);
/** Checks that a node counts asks if kernels of its pipeline ask: the last message of a flow may be any kernel's. INVALID. */
gyre_status gyre_asks_count_by(const gyre_pipeline *pipeline, int node);
/** Whether another kernel asks the node. */
bool gyre_asks_lead_to(const gyre_pipeline *pipeline, int node);
/**
 * Of a resolved link whose port asks: checks that the target replies what the asker wants and takes, marks the link, and fills in
 * *answers, the link that leads back. INVALID, INCOMPATIBLE.
 */
gyre_status gyre_asks_resolve(const gyre_pipeline *pipeline, struct gyre_link *link,
                              struct gyre_link *answers);

#endif
