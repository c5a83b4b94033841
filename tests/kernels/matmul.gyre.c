/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix product by tiles in scratch memory. */
#include <gyre/kernel.h>

#include "matmul.h"

/* One element of the product of two tiles. */
GYRE_HELPER f32 multiply_row(const GYRE_SHARED matmul_scratch *tiles, u32 row, u32 column, f32 sum)
{
    for (u32 i = 0; i < MATMUL_TILE; i++)
        sum = sum + tiles->a[row][i] * tiles->b[i][column];
    return sum;
}

GYRE_BLOCK_KERNEL(matmul, matmul_request, matmul_reply, matmul_scratch)
{
    const u32 row = gyre_lane(gyre) / MATMUL_TILE, column = gyre_lane(gyre) % MATMUL_TILE;
    if (!gyre_assert(gyre, gyre_lane_count(gyre) == MATMUL_TILE * MATMUL_TILE))
        return GYRE_FAILED;
    for (u32 y = 0; y < MATMUL_N; y += MATMUL_TILE) {
        for (u32 x = 0; x < MATMUL_N; x += MATMUL_TILE) {
            f32 sum = 0;
            for (u32 k = 0; k < MATMUL_N; k += MATMUL_TILE) {
                scratch->a[row][column] = request->a[y + row][k + column];
                scratch->b[row][column] = request->b[k + row][x + column];
                gyre_barrier(gyre);
                sum = multiply_row(scratch, row, column, sum);
                gyre_barrier(gyre);
            }
            reply->c[y + row][x + column] = sum;
        }
    }
    return GYRE_REPLY;
}
