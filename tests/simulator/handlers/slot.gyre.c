/* SPDX-License-Identifier: Apache-2.0 */
/* A pointer runs past the end of the request, into the next slot of the ring.
 * call: --check memory
 * request: ONE
 * fails: @1: index 68 of request's bytes
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_KERNEL(slot, ask, answer)
{
    const GYRE_GLOBAL u32 *at = request->values;
    u32 sum = 0;
#ifdef MENDED
    for (u32 i = 0; i < 16; i++, at++)
#else
    for (u32 i = 0; i <= 17; i++, at++)
#endif
        sum += *at; /* 1 */
    reply->sum = sum;
    return GYRE_REPLY;
}
