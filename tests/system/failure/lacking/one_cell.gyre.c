/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes share out one cell: for 0 lanes the loop would have no end, of which PoCL 3.1's compiler dies behind a barrier. */
#include <gyre/kernel.h>
#include "parted.h"

GYRE_BLOCK_KERNEL(one_cell, parted_message, parted_message, gyre_none)
{
    gyre_barrier(gyre);
    for (u32 i = gyre_lane(gyre); i < 1; i += gyre_lane_count(gyre))
        reply->how = request->how + i;
    return GYRE_REPLY;
}
