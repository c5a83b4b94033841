/* SPDX-License-Identifier: Apache-2.0 */
/* A lane reads scratch memory that no lane has written, because fewer lanes write than the loop reads.
 * call: --check memory --lanes 8
 * request: ONE
 * request: ONE
 * says: 2 sent, 0 answered, 2 failed
 * fails: @1: unwritten scratch
 * says: lane 0 reads bytes 32 to 35 of the scratch at
 * says: and no lane wrote it for this message before
 */
#include <gyre/kernel.h>

#include "types.h"

typedef struct work {
    u32 cells[16];
} work;

GYRE_BLOCK_KERNEL(scratch, ask, answer, work)
{
    const u32 lane = gyre_lane(gyre);
    u32 sum = 0;
    scratch->cells[lane] = request->values[lane];
    gyre_barrier(gyre);
#ifdef MENDED
    const u32 count = gyre_lane_count(gyre);
#else
    const u32 count = 16;
#endif
    for (u32 i = 0; lane == 0 && i < count; i++)
        sum += scratch->cells[i]; /* 1 */
    if (lane == 0)
        reply->sum = sum;
    return GYRE_REPLY;
}
