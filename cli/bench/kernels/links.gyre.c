/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of a chain: pass_48 passes a message on as it is; last_48 replies as words_48 does, word * 3 + i for word i. */
#include <gyre/kernel.h>

#include "bench_messages.h"

#define PASS_PORTS(PORT) PORT(words_48, next, 1)
GYRE_PORTS(pass_ports, PASS_PORTS)

GYRE_KERNEL_TO(pass_48, words_48, gyre_none, pass_ports)
{
    *gyre_emit(gyre, next) = *request;
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(last_48, words_48, words_48)
{
    for (u32 i = 0; i < 6; i++)
        reply->word[i] = request->word[i] * 3 + i;
    return GYRE_REPLY;
}
