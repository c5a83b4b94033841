/* SPDX-License-Identifier: Apache-2.0 */
/* A handler waits for a number that nobody changes, and one that only reads the same number again and again.
 * call: --check deadlock
 * request: ONE
 * fails: @1: deadlock, waits for ever
 * says: for another value of state->counts[0]
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_KERNEL_WITH(reread, ask, answer, kept, gyre_none)
{
    reply->sum = 0;
#ifdef MENDED
    for (u32 i = 0; i < 1000000; i++)
        reply->sum += state->counts[0] * i;
#else
    while (gyre_atomic_load(&state->counts[0]) == 0) /* 1 */
        ;
#endif
    return GYRE_REPLY;
}
