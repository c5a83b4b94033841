/* SPDX-License-Identifier: Apache-2.0 */
/* Replies of gathered and staged epochs, handed to their clients. */
#ifndef GYRE_OPENCL_REPLIES_H
#define GYRE_OPENCL_REPLIES_H

#include "opencl_epoch.h"

/** What a message's times are, where they are kept: those of its epoch, as the device shares no clock with its queue. */
void opencl_stamp(const struct opencl_epoch *epoch, uint32_t i, uint64_t now_ns);
/**
 * A few of the replies that are there of a gathered epoch; false: none was. The pump, or the courier while the epoch is
 * its own.
 */
bool opencl_hand_out(const gyre_resident *resident, struct opencl_epoch *epoch);
/** Of an epoch in the stages of a direct device, which is through: whether message i is complete. */
bool opencl_is_staged(const struct opencl_epoch *epoch, uint32_t i);
/** Hands out all of these. */
void opencl_deliver(const gyre_resident *resident, struct opencl_epoch *epoch);

#endif
