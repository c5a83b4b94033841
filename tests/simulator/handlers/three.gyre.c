/* SPDX-License-Identifier: Apache-2.0 */
/* Two lanes meet twice by atomic numbers, which goes wrong when each is left just there: it takes three switches.
 * call: --check schedule --seeds 10000 --lanes 2
 * request: ONE
 * request: ONE
 * request: ONE
 * request: ONE
 * request: ONE
 * request: ONE
 * fails: differs with the order: seeds 1, 
 * says: check schedule: the order in which lanes run decides the result
 */
#include <gyre/kernel.h>

#include "types.h"

typedef struct work {
    u32 first, second, met[2];
} work;

GYRE_BLOCK_KERNEL(three, ask, answer, work)
{
    const u32 lane = gyre_lane(gyre);
    if (lane == 0)
        scratch->first = scratch->second = 0;
    scratch->met[lane] = 0;
    gyre_barrier(gyre);
    if (lane == 0) {
        gyre_atomic_store(&scratch->first, 1u);
        u32 met = gyre_atomic_load(&scratch->second) == 1;
        gyre_atomic_store(&scratch->first, 2u);
        met &= gyre_atomic_load(&scratch->second) == 2;
        scratch->met[0] = met;
    } else {
        u32 met = gyre_atomic_load(&scratch->first) == 1;
        gyre_atomic_store(&scratch->second, 1u);
        met &= gyre_atomic_load(&scratch->first) == 2;
        gyre_atomic_store(&scratch->second, 2u);
        scratch->met[1] = met;
    }
    gyre_barrier(gyre);
#ifdef MENDED
    reply->sum = request->values[0];
#else
    reply->sum = request->values[0] + (scratch->met[0] & scratch->met[1]);
#endif
    return GYRE_REPLY;
}
