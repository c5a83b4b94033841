/* SPDX-License-Identifier: Apache-2.0 */
/* Requests count in a buffer, where two may mean the same bin.
 * call: --check races --buffer bins=zeros:64
 * request: ONE
 * request: ONE
 * request: ONE
 * request: ONE
 * fails: @1: race, two messages
 * says: item 5 of buffer 'bins' at
 */
#include <gyre/kernel.h>

#include "types.h"

#define BINS(IN, INOUT) INOUT(u32, bins)
GYRE_BUFFERS(bin_buffers, BINS)

GYRE_KERNEL_WITH(bins, ask, answer, gyre_none, bin_buffers)
{
    const u32 bin = request->values[4] % 16;
#ifdef MENDED
    reply->sum = gyre_atomic_add(&buffers->bins[bin], 1u) + 1;
#else
    reply->sum = ++buffers->bins[bin]; /* 1 */
#endif
    return GYRE_REPLY;
}
