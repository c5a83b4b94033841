/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes messages for an epoch of a stage (opencl_linked.h) from links and queues, and copies them into cells. What another
 * program can write is read once: from then on only the copy counts.
 */
#ifndef GYRE_OPENCL_FETCH_H
#define GYRE_OPENCL_FETCH_H

#include "backends/opencl/epochs/opencl_linked.h"

/** Whether a link has a message. */
bool opencl_fetch_has_links(const gyre_resident *resident);
/** Whether a queue has a request that may be taken. `room`: there is some for what its handler may emit. */
bool opencl_fetch_has_requests(const gyre_resident *resident, bool room);
/**
 * Takes messages from links while there are any and the epoch has fewer than `most`. Of pools what the kernel emitted itself goes
 * first; of a pool whose order is `newest` the epoch has no more messages than the kernel has blocks.
 */
void opencl_fetch_links(gyre_resident *resident, uint32_t most);
/**
 * Takes requests from queues in the same way: `room` is what links have room for, and counts for entries of a pipeline alone.
 * Completes those that no handler sees.
 */
void opencl_fetch_queues(gyre_resident *resident, uint32_t room, uint32_t most);

#endif
