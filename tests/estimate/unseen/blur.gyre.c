/* SPDX-License-Identifier: Apache-2.0 */
/* A row that lanes of a block blur several times. */
#include <gyre/kernel.h>

#define ROW(FIELD) FIELD(f32, values[256])
GYRE_MESSAGE(row, ROW)
typedef struct rows {
    f32 of[2][258];
} rows;

GYRE_BLOCK_KERNEL(blur, row, row, rows)
{
    const u32 lane = gyre_lane(gyre), lanes = gyre_lane_count(gyre);
    for (u32 i = lane; i < 256; i += lanes)
        scratch->of[0][i + 1] = request->values[i];
    if (lane < 2)
        scratch->of[lane][0] = scratch->of[lane][257] = 0;
    gyre_barrier(gyre);
    for (u32 turn = 0; turn < 6; turn++) {
        for (u32 i = lane + 1; i <= 256; i += lanes)
            scratch->of[1 - turn % 2][i] =
                (scratch->of[turn % 2][i - 1] + 2 * scratch->of[turn % 2][i] + scratch->of[turn % 2][i + 1]) *
                0.25f;
        gyre_barrier(gyre);
    }
    for (u32 i = lane; i < 256; i += lanes)
        reply->values[i] = scratch->of[0][i + 1];
    return GYRE_REPLY;
}
