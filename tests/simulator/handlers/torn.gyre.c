/* SPDX-License-Identifier: Apache-2.0 */
/* A wide number is written as two halves, and read by another message as one.
 * call: --check races
 * request: ONE
 * request: ONE
 * fails: @1: race, two messages
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_KERNEL_WITH(torn, ask, answer, kept, gyre_none)
{
#ifdef MENDED
    gyre_atomic_store(&state->total, (u64)request->values[1] << 32 | request->values[0]);
    reply->sum = (u32)(gyre_atomic_load(&state->total) >> 32);
#else
    state->counts[0] = request->values[0]; /* 1 */
    state->counts[1] = request->values[1];
    reply->sum = state->counts[1];
#endif
    return GYRE_REPLY;
}
