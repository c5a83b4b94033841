/* SPDX-License-Identifier: Apache-2.0 */
/* All lanes leave before a barrier, because the request says so to all of them.
 *
 * expects: nothing
 * options: --lanes 8
 * request: {"count":0,"values":[1,2,3,4,5,6,7,8]}
 * request: {"count":5,"values":[1,2,3,4,5,6,7,8]} */
#include <gyre/kernel.h>

#define SOME(FIELD) FIELD(u32, count) FIELD(u32, values[8])
GYRE_MESSAGE(some, SOME)

GYRE_BLOCK_KERNEL(together_out, some, some, some)
{
    const u32 lane = gyre_lane(gyre);
    if (request->count > 8)
        return gyre_fail(gyre, 1, "too many");
    if (request->count == 0)
        return GYRE_NO_REPLY;
    if (lane < request->count)
        scratch->values[lane] = request->values[lane];
    gyre_barrier(gyre);
    reply->values[lane] = lane < request->count ? scratch->values[request->count - 1 - lane] : 0;
    if (lane == 0)
        reply->count = request->count;
    return GYRE_REPLY;
}
