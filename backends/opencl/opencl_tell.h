/* SPDX-License-Identifier: Apache-2.0 */
/* Tells in each block's line of the control region whether an epoch runs in the block, and since when. */
#ifndef GYRE_OPENCL_TELL_H
#define GYRE_OPENCL_TELL_H

#include "opencl_epoch.h"

/** The lines of blocks tell from now on what the blocks do. */
void opencl_tell_present(const gyre_resident *resident);
/** The epoch was sent. */
void opencl_tell_begun(const gyre_resident *resident, const struct opencl_epoch *epoch);
/** The epoch is through, and counts as in flight no more. */
void opencl_tell_ended(const gyre_resident *resident, const struct opencl_epoch *epoch);

#endif
