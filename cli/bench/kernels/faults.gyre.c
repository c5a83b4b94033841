/* SPDX-License-Identifier: Apache-2.0 */
/* A handler that faults or never ends when it is told to: what `recover/*` measures. */
#include <gyre/kernel.h>

#include "bench_messages.h"

GYRE_KERNEL(faults, fault_request, fault_reply)
{
    if (request->what == BENCH_FAULT_ADDRESS)
        reply->number = (&request->number)[request->far]; /* terabytes away: no memory there on any device */
    else
        reply->number = request->number * 3 + 1;
    while (request->what == BENCH_FAULT_LOOP && gyre_time_ns(gyre) != 1)
        reply->number++;
    return GYRE_REPLY;
}
