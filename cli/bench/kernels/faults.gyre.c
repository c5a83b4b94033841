/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for the cases `recover/...`: its handler faults, or never returns, when a request asks for that. */
#include <gyre/kernel.h>

#include "bench_messages.h"

#define BENCH_FAULT_BUFFERS(IN, INOUT) IN(u64, near)
GYRE_BUFFERS(fault_buffers, BENCH_FAULT_BUFFERS)

GYRE_KERNEL_WITH(faults, fault_request, fault_reply, gyre_none, fault_buffers)
{
    /* Terabytes behind a buffer is no memory on any device; a request, as staged by some, has 32-bit
     * addresses. */
    if (request->what == BENCH_FAULT_ADDRESS)
        reply->number = buffers->near[request->far];
    else
        reply->number = request->number * 3 + 1;
    while (request->what == BENCH_FAULT_LOOP && gyre_time_ns(gyre) != 1)
        reply->number++;
    return GYRE_REPLY;
}
