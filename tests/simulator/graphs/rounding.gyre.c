/* SPDX-License-Identifier: Apache-2.0 */
/* Parts are added as they come, and a sum of floats depends on the order of its parts.
 * config: [gyre]
 * config: backend = cpu
 * config: [kernel.fork]
 * config: source = @:fork
 * config: [kernel.low]
 * config: source = @:low
 * config: [kernel.high]
 * config: source = @:high
 * config: [kernel.join]
 * config: source = @:join
 * config: [pipeline.rounding]
 * config: entry = fork
 * config: answer = join
 * config: [link.left]
 * config: from = fork.left
 * config: to = low
 * config: [link.right]
 * config: from = fork.right
 * config: to = high
 * config: [link.from_low]
 * config: from = low.onward
 * config: to = join
 * config: [link.from_high]
 * config: from = high.onward
 * config: to = join
 * call: --check order --seeds 40
 * request: {"number":1,"value":5}
 * says: request:1: with seed 
 * says: 'join' reads bytes 4 to 7 of the flow's memory at 
 * says: /rounding.gyre.c:@1 (
 * says: for request 1 from 'low', with seed 
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_KERNEL_TO(fork, task, gyre_none, roads_ports)
{
    for (u32 i = 0; i < 2; i++) {
        GYRE_GLOBAL part *one = gyre_emit(gyre, left);
        one->which = i;
        one->value = i ? 3 : 100000000;
        GYRE_GLOBAL part *other = gyre_emit(gyre, right);
        other->which = 2 + i;
        other->value = 3;
    }
    return GYRE_NO_REPLY;
}

GYRE_KERNEL_TO(low, part, gyre_none, onward_ports)
{
    *gyre_emit(gyre, onward) = *request;
    return GYRE_NO_REPLY;
}

GYRE_KERNEL_TO(high, part, gyre_none, onward_ports)
{
    *gyre_emit(gyre, onward) = *request;
    return GYRE_NO_REPLY;
}

struct sums {
    u32 count;
    f32 sum, parts[4];
};
GYRE_FLOW(join, struct sums)

GYRE_KERNEL(join, part, answer)
{
    GYRE_GLOBAL struct sums *flow = gyre_flow(gyre, join);
    flow->parts[request->which] = (f32)request->value;
    flow->sum += (f32)request->value; /* 1 */
    if (++flow->count < 4)
        return GYRE_NO_REPLY;
#ifdef MENDED
    flow->sum = 0;
    for (u32 i = 0; i < 4; i++)
        flow->sum += flow->parts[i];
#endif
    reply->number = 0;
    reply->value = (u32)flow->sum;
    return GYRE_REPLY;
}
