/* SPDX-License-Identifier: Apache-2.0 */
/* A message leaves a number and raises a flag; another one sees the flag and takes the number.
 * call: --check races
 * request: ONE
 * request: ONE
 * request: ONE
 * fails: @1 and @2: race, two messages
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_KERNEL_WITH(flag, ask, answer, kept, gyre_none)
{
    reply->sum = 0;
#ifdef MENDED
    if (gyre_atomic_add(&state->counts[0], 1u) > 0)
        reply->sum = (u32)gyre_atomic_load(&state->total);
    gyre_atomic_store(&state->total, (u64)request->values[3]);
#else
    if (gyre_atomic_load(&state->counts[0]))
        reply->sum = (u32)state->total; /* 2 */
    else
        state->total = request->values[3]; /* 1 */
    gyre_atomic_store(&state->counts[0], 1u);
#endif
    return GYRE_REPLY;
}
