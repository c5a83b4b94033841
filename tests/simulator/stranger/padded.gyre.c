/* SPDX-License-Identifier: Apache-2.0 */
/* A struct with bytes between its members that nobody writes goes through the scratch as one.
 *
 * expects: nothing
 * options: --lanes 4
 * request: {"pairs":[{"kind":1,"value":10},{"kind":2,"value":20},{"kind":3,"value":30},{"kind":4,"value":40}]} */
#include <gyre/kernel.h>

#define PAIR(FIELD) FIELD(u8, kind) FIELD(u64, value)
GYRE_MESSAGE(pair, PAIR)
#define PAIRS(FIELD) FIELD(pair, pairs[4])
GYRE_MESSAGE(pairs, PAIRS)

GYRE_BLOCK_KERNEL(padded, pairs, pairs, pairs)
{
    const u32 lane = gyre_lane(gyre);
    scratch->pairs[lane].kind = request->pairs[lane].kind;
    scratch->pairs[lane].value = request->pairs[lane].value + 1;
    gyre_barrier(gyre);
    const pair other = scratch->pairs[3 - lane];
    reply->pairs[lane] = other;
    return GYRE_REPLY;
}
