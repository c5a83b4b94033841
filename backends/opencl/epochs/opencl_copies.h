/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Epochs (batches of requests) whose slots are copied to the device and back. Only the pump's thread calls
 * these functions.
 */
#ifndef GYRE_OPENCL_COPIES_H
#define GYRE_OPENCL_COPIES_H

#include "backends/opencl/epochs/opencl_epoch.h"

/** Returns how many requests, of `count` from queue->next on, one epoch can copy. */
uint32_t opencl_copies_fit(const struct opencl_queue *queue, uint32_t count);
/** Enqueues the write of the requests, the kernel, and the read of the replies. GYRE_OK or LOST. */
gyre_status opencl_copies_submit(gyre_resident *resident, struct opencl_epoch *epoch);
/**
 * Called after the epoch: hands the replies to their clients, and counts the requests that a handler failed.
 * GYRE_OK or LOST.
 */
gyre_status opencl_copies_settle(gyre_resident *resident, struct opencl_epoch *epoch, uint32_t *failed);

#endif
