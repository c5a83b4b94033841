/* SPDX-License-Identifier: Apache-2.0 */
/* Each lane writes two words, of which the second is its neighbour's first.
 * call: --check races --lanes 8
 * request: ONE
 * fails: @2 and @1: race, lanes 0 1
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_BLOCK_KERNEL(pairs, ask, answer, gyre_none)
{
    const u32 lane = gyre_lane(gyre);
#ifdef MENDED
    const u32 place = 2 * lane;
#else
    const u32 place = lane;
#endif
    reply->sums[place] = request->values[lane]; /* 1 */
    reply->sums[place + 1] = 0;                 /* 2 */
    return GYRE_REPLY;
}
