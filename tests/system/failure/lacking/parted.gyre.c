/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lanes that missed a barrier may leave behind on OpenCL, where that is undefined. 1: the block has failed, and no lane
 * is the one that says why. 2: a lane has failed, and has lost what it said.
 */
#include <gyre/kernel.h>
#include "parted.h"

GYRE_BLOCK_KERNEL(parted, parted_message, parted_message, gyre_none)
{
    if (gyre_lane(gyre) == 0)
        reply->how = request->how;
    gyre_barrier(gyre);
#ifdef GYRE_DIALECT_OPENCL
    if (gyre_lane(gyre) == 0 && request->how == 1)
        gyre->shared->first_failed = 5000;
    if (gyre_lane(gyre) == 0 && request->how == 2)
        gyre->failed = 1;
#endif
    return GYRE_REPLY;
}
