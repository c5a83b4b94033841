/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long handlers of stages ran (gyre_control_times, kind LINKS): messages of links have no stamps, and those of a pipeline's queue
 * tell of whole flows. A message's time is that of its epoch, from the moment it was sent to the device until it had come back. Every
 * so many-th message is timed. The pump's thread alone calls this.
 */
#ifndef GYRE_OPENCL_TIMES_H
#define GYRE_OPENCL_TIMES_H

#include "gyre/ring_layout.h"

/** Which messages are timed, and where they are counted. All zeros: none. */
struct opencl_timed {
    gyre_control_times *times;
    gyre_u64 mask, turn;
};

/** Before the kernel runs. */
void opencl_times_prepare(struct opencl_timed *timed, gyre_control_region *control, gyre_u32 blocks);
/** The handler was called with so many more messages of flows, in an epoch of that length. */
void opencl_times_count(struct opencl_timed *timed, gyre_u32 messages, gyre_u64 epoch_ns);

#endif
