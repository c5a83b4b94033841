/* SPDX-License-Identifier: Apache-2.0 */
/* Epochs (batches of requests) whose messages are packed into stages, memory between pump and device. */
#ifndef GYRE_OPENCL_GATHER_H
#define GYRE_OPENCL_GATHER_H

#include "backends/opencl/epochs/opencl_epoch.h"

/** Whether the next `count` requests of the queue go by the stages. */
bool opencl_gathers(const gyre_resident *resident, const struct opencl_queue *queue, uint32_t count);
/** Returns how many of `count` requests one epoch can gather. */
uint32_t opencl_gather_fit(const gyre_resident *resident, const struct opencl_queue *queue, uint32_t count);
/**
 * Gathers the requests and enqueues the kernel. For a direct device it also sets epoch->repeated. GYRE_OK or
 * LOST.
 */
gyre_status opencl_gather_submit(gyre_resident *resident, struct opencl_epoch *epoch);
/**
 * Hands out the replies that are there. Returns true when all replies were there, or when the epoch ended
 * without some.
 */
bool opencl_gather_advance(gyre_resident *resident, struct opencl_epoch *epoch);
/** Called after the epoch: hands out the remaining replies. LOST when a reply is not there. */
gyre_status opencl_gather_settle(gyre_resident *resident, struct opencl_epoch *epoch, uint32_t *failed);

#endif
