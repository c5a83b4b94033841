/* SPDX-License-Identifier: Apache-2.0 */
/* A barrier orders the lanes of a block. The blocks of a kernel, which share its state, wait for nothing there.
 * call: --check races --lanes 4 --blocks 2
 * request: ONE
 * request: ONE
 * request: ONE
 * request: ONE
 * request: ONE
 * request: ONE
 * fails: @1: race, two messages
 * says: state->counts[
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_BLOCK_KERNEL_WITH(scope, ask, answer, gyre_none, kept, gyre_none)
{
    const u32 lane = gyre_lane(gyre);
    gyre_barrier(gyre);
#ifdef MENDED
    gyre_atomic_add(&state->counts[lane], request->values[lane]);
#else
    state->counts[lane] = state->counts[lane] + request->values[lane]; /* 1 */
#endif
    gyre_barrier(gyre);
    reply->sums[lane] = request->values[lane];
    return GYRE_REPLY;
}
