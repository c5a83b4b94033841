/* SPDX-License-Identifier: Apache-2.0 */
/* Two roads lead to one kernel, and the part that comes last decides the answer.
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
 * config: [pipeline.roads]
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
 * request: {"number":2,"value":7}
 * says: request:1: with seed 
 * says: gyre: with seed 1 'join' handled messages of the requests
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_KERNEL_TO(fork, task, gyre_none, roads_ports)
{
    GYRE_GLOBAL part *one = gyre_emit(gyre, left);
    one->which = 0;
    one->value = request->value;
    GYRE_GLOBAL part *other = gyre_emit(gyre, right);
    other->which = 1;
    other->value = request->value + 1;
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

struct seen {
    u32 count, first;
};
GYRE_FLOW(join, struct seen)

GYRE_KERNEL(join, part, answer)
{
    GYRE_GLOBAL struct seen *flow = gyre_flow(gyre, join);
#ifdef MENDED
    if (request->which == 0)
        flow->first = request->value;
#else
    if (flow->count == 0)
        flow->first = request->value;
#endif
    if (++flow->count < 2)
        return GYRE_NO_REPLY;
    reply->number = 0;
    reply->value = flow->first;
    return GYRE_REPLY;
}
