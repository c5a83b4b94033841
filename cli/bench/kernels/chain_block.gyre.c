/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that does the arithmetic of chain.gyre.c with one message for each block. The block's first lane works. */
#include <gyre/kernel.h>

#include "bench_messages.h"

GYRE_BLOCK_KERNEL(chain_block, chain_request, chain_reply, gyre_none)
{
    if (gyre_lane(gyre) == 0) {
        u64 x = request->x;
        for (u64 turn = 0; turn < request->turns; turn++)
            x = x * request->factor + request->step;
        reply->x = x;
    }
    return GYRE_REPLY;
}
