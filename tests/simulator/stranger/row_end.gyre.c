/* SPDX-License-Identifier: Apache-2.0 */
/* Three of four lanes read one item behind their row. They leave the handler there, so the fourth waits alone for the sum: that is no second mistake.
 *
 * expects: index
 * options: --lanes 4
 * request: {"values":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]} */
#include <gyre/kernel.h>

#define TABLE(FIELD) FIELD(u32, values[16])
GYRE_MESSAGE(table, TABLE)
#define TOTAL(FIELD) FIELD(u32, total)
GYRE_MESSAGE(total, TOTAL)
typedef struct work {
    u32 rows[4][4];
} work;

GYRE_BLOCK_KERNEL(row_end, table, total, work)
{
    const u32 lane = gyre_lane(gyre);
    u32 sum = 0;
    for (u32 i = 0; i < 4; i++)
        scratch->rows[lane][i] = request->values[lane * 4 + i];
    gyre_barrier(gyre);
    for (u32 i = 0; i < 4; i++)
        sum += lane < 3 ? scratch->rows[lane][i + 1] : 0; /* first */
    sum = gyre_block_sum_u32(gyre, sum);
    if (lane == 0)
        reply->total = sum;
    return GYRE_REPLY;
}
