/* SPDX-License-Identifier: Apache-2.0 */
/* A lane reads in the reply what another one has not stored yet.
 * call: --check races --lanes 4
 * request: ONE
 * fails: @1 and @2: race, lanes 0 1
 * says: reply->sum at
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_BLOCK_KERNEL(result, ask, answer, gyre_none)
{
    const u32 lane = gyre_lane(gyre);
    if (lane == 0)
        reply->sum = request->values[0]; /* 1 */
#ifdef MENDED
    gyre_barrier(gyre);
#endif
    reply->sums[lane] = reply->sum + lane; /* 2 */
    return GYRE_REPLY;
}
