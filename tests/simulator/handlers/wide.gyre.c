/* SPDX-License-Identifier: Apache-2.0 */
/* An index out of the request goes beyond an array of the state.
 * call: --check races,memory
 * request: ONE
 * fails: @1: index 16 of counts[16]
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_ACTOR(wide, ask, answer, kept)
{
#ifdef MENDED
    const u32 which = request->values[15] % 16;
#else
    const u32 which = request->values[15];
#endif
    state->counts[which] += 1; /* 1 */
    reply->sum = 1;
    return GYRE_REPLY;
}
