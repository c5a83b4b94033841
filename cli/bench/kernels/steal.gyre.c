/* SPDX-License-Identifier: Apache-2.0 */
/* Work of a pool: steal_deal makes tasks of very different length, and a block of steal_work does one at a time. */
#include <gyre/kernel.h>

#include "bench_messages.h"

#define DEAL_PORTS(PORT) PORT(steal_task, tasks, 128)
GYRE_PORTS(deal_ports, DEAL_PORTS)

GYRE_KERNEL_TO(steal_deal, steal_order, gyre_none, deal_ports)
{
    const u64 first = (u64)gyre_turn(gyre) * 128;
    for (u64 i = first; i < first + 128 && i < request->count; i++) {
        GYRE_GLOBAL steal_task *task = gyre_emit(gyre, tasks);
        const u64 number = request->first + i, length = BENCH_STEAL_IS_LONG(number);
        task->x = number;
        task->factor = request->factor;
        task->step = request->step;
        task->turns = request->turns[length];
        task->right = number * request->power[length] + request->sum[length];
    }
    return first + 128 < request->count ? GYRE_MORE : GYRE_NO_REPLY;
}

GYRE_BLOCK_KERNEL(steal_work, steal_task, gyre_none, gyre_none)
{
    int is_right = 1;
    if (gyre_lane(gyre) == 0) {
        u64 x = request->x;
        for (u64 turn = 0; turn < request->turns; turn++)
            x = x * request->factor + request->step;
        is_right = x == request->right;
    }
    return is_right ? GYRE_NO_REPLY : gyre_fail(gyre, 1, "the arithmetic of a task came to something else");
}
