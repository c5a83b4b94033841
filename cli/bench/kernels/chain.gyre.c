/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that does about a microsecond of arithmetic on a GPU. Each lane handles a message of its own. */
#include <gyre/kernel.h>

#include "bench_messages.h"

GYRE_KERNEL(chain, chain_request, chain_reply)
{
    u64 x = request->x;
    for (u64 turn = 0; turn < request->turns; turn++)
        x = x * request->factor + request->step;
    reply->x = x;
    return GYRE_REPLY;
}
