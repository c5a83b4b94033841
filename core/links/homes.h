/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On which devices the kernels of a pipeline are, and where its links lie. Devices of one backend whose kernels use each other's memory
 * (let_in of gyre/peer.h) have one home, and move messages between their kernels by themselves, as one device does: each link lies in
 * the memory of the device that fetches from it. Lock: none, of a pipeline that is made, and pipeline->lock later.
 */
#ifndef GYRE_CORE_LINKS_HOMES_H
#define GYRE_CORE_LINKS_HOMES_H

#include "core/links/pipeline.h"

/**
 * Finds the homes of all nodes, and which nodes are apart (apart.h). Where devices of one backend do not reach each other, the log says
 * that links between them go through the host.
 */
void gyre_homes_find(gyre_pipeline *pipeline);
/** Gives a node that came later its home. False when no other node has a home that the node's device is of. */
bool gyre_homes_add(gyre_pipeline *pipeline, int node);
/** The device whose memory has the rings of the link. */
struct gyre_dispatch *gyre_homes_of_link(const gyre_pipeline *pipeline, const struct gyre_link *link);

#endif
