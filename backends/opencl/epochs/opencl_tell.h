/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells in each block's line of the control region whether an epoch (a batch of requests) runs in the block,
 * and since when.
 */
#ifndef GYRE_OPENCL_TELL_H
#define GYRE_OPENCL_TELL_H

#include "backends/opencl/epochs/opencl_epoch.h"

/** Says in the blocks' lines that from now on they tell what the blocks do. */
void opencl_tell_present(const gyre_resident *resident);
/** Called when the epoch was sent. */
void opencl_tell_begun(const gyre_resident *resident, const struct opencl_epoch *epoch);
/** Called when the epoch is complete and no longer counted in in_flight. */
void opencl_tell_ended(const gyre_resident *resident, const struct opencl_epoch *epoch);

#endif
