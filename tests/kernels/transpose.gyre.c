/* SPDX-License-Identifier: Apache-2.0 */
/* Two-dimensional arrays through scratch memory. */
#include <gyre/kernel.h>

#include "transpose.h"

GYRE_BLOCK_KERNEL(transpose, transpose_message, transpose_message, transpose_scratch)
{
    const u32 count = TRANSPOSE_N * TRANSPOSE_N;
    for (u32 i = gyre_lane(gyre); i < count; i += gyre_lane_count(gyre))
        scratch->tile[i / TRANSPOSE_N][i % TRANSPOSE_N] = request->cells[i / TRANSPOSE_N][i % TRANSPOSE_N];
    gyre_barrier(gyre);
    for (u32 i = gyre_lane(gyre); i < count; i += gyre_lane_count(gyre))
        reply->cells[i / TRANSPOSE_N][i % TRANSPOSE_N] = scratch->tile[i % TRANSPOSE_N][i / TRANSPOSE_N];
    return GYRE_REPLY;
}
