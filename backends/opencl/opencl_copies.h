/* SPDX-License-Identifier: Apache-2.0 */
/* Epochs whose slots are copied to the device and back. */
#ifndef GYRE_OPENCL_COPIES_H
#define GYRE_OPENCL_COPIES_H

#include "opencl_epoch.h"

/** The number of requests, of `count` from queue->next on, that one epoch can copy. */
uint32_t opencl_copies_fit(const struct opencl_queue *queue, uint32_t count);
/** Enqueues the write of the requests, the kernel and the read of the replies. LOST. */
gyre_status opencl_copies_submit(gyre_resident *resident, struct opencl_epoch *epoch);
/** After the epoch: hands the replies to their clients, and counts the requests that a handler failed. LOST. */
gyre_status opencl_copies_settle(gyre_resident *resident, struct opencl_epoch *epoch, uint32_t *failed);

#endif
