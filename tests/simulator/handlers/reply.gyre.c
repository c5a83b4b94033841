/* SPDX-License-Identifier: Apache-2.0 */
/* A reply is added up in its place, which begins as an earlier reply left it.
 * call: --check memory
 * request: ONE
 * request: ONE
 * says: 2 sent, 0 answered, 2 failed
 * fails: @1: unwritten reply
 * says: reads reply->sum at
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_KERNEL(reply, ask, answer)
{
#ifdef MENDED
    reply->sum = 0;
#endif
    for (u32 i = 0; i < 16; i++)
        reply->sum += request->values[i]; /* 1 */
    return GYRE_REPLY;
}
