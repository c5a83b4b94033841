/* SPDX-License-Identifier: Apache-2.0 */
/* Epochs whose slots are copied to the device and back. */
#ifndef GYRE_OPENCL_COPIES_H
#define GYRE_OPENCL_COPIES_H

#include "opencl_epoch.h"

/** How many of `count` requests from queue->next on one epoch can copy. */
uint32_t opencl_copies_fit(const struct opencl_queue *queue, uint32_t count);
/** Write, run, read. LOST. */
gyre_status opencl_copies_submit(gyre_resident *resident, struct opencl_epoch *epoch);
/** The epoch is through: lets clients have the replies, and counts those that a handler failed. LOST. */
gyre_status opencl_copies_settle(gyre_resident *resident, struct opencl_epoch *epoch, uint32_t *failed);

#endif
