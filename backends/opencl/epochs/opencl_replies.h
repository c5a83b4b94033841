/* SPDX-License-Identifier: Apache-2.0 */
/* Hands the replies of gathered and staged epochs (batches of requests) to their clients. */
#ifndef GYRE_OPENCL_REPLIES_H
#define GYRE_OPENCL_REPLIES_H

#include "backends/opencl/epochs/opencl_epoch.h"

/**
 * Notes the times of messages [first, end) that are timed. They are the times of their epoch, because device and
 * queue share no clock.
 */
void opencl_stamp(const gyre_resident *resident, const struct opencl_epoch *epoch, uint32_t first,
                  uint32_t end, uint64_t now_ns);
/**
 * Hands out a few of a gathered epoch's replies that are there. False: there was none.
 */
bool opencl_hand_out(const gyre_resident *resident, struct opencl_epoch *epoch);
/** Whether message i is complete, after an epoch in the stages of a direct device. */
bool opencl_is_staged(const struct opencl_epoch *epoch, uint32_t i);
/** Hands out all replies of an epoch in the stages of a direct device. */
void opencl_deliver(const gyre_resident *resident, struct opencl_epoch *epoch);

#endif
