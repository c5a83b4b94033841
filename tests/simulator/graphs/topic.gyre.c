/* SPDX-License-Identifier: Apache-2.0 */
/* Two subscribers of a topic are as fast as they are: their kernel takes the first one for the first in the list.
 * config: [gyre]
 * config: backend = cpu
 * config: [kernel.feed]
 * config: source = @:feed
 * config: [kernel.low]
 * config: source = @:low
 * config: [kernel.high]
 * config: source = @:high
 * config: [kernel.join]
 * config: source = @:join
 * config: [pipeline.topic]
 * config: entry = feed
 * config: answer = join
 * config: [topic.prices]
 * config: from = feed.onward
 * config: to = low, high
 * config: [link.from_low]
 * config: from = low.left
 * config: to = join
 * config: [link.from_high]
 * config: from = high.left
 * config: to = join
 * call: --check schedule --seeds 40
 * request: {"number":1,"value":5}
 * request: {"number":2,"value":6}
 * says: with seed 
 */
#include <gyre/kernel.h>

#include "types.h"

#define ONE_ROAD(PORT) PORT(part, left, 1)
GYRE_PORTS(one_road, ONE_ROAD)

GYRE_KERNEL_TO(feed, task, gyre_none, onward_ports)
{
    GYRE_GLOBAL part *out = gyre_emit(gyre, onward);
    out->which = 0;
    out->value = request->value;
    return GYRE_NO_REPLY;
}

GYRE_KERNEL_TO(low, part, gyre_none, one_road)
{
    GYRE_GLOBAL part *out = gyre_emit(gyre, left);
    out->which = 1;
    out->value = request->value;
    return GYRE_NO_REPLY;
}

GYRE_KERNEL_TO(high, part, gyre_none, one_road)
{
    GYRE_GLOBAL part *out = gyre_emit(gyre, left);
    out->which = 2;
    out->value = request->value;
    return GYRE_NO_REPLY;
}

struct seen {
    u32 count, digits;
};
GYRE_FLOW(join, struct seen)

GYRE_KERNEL(join, part, answer)
{
    GYRE_GLOBAL struct seen *flow = gyre_flow(gyre, join);
#ifdef MENDED
    flow->digits += request->which;
#else
    flow->digits = flow->digits * 10 + request->which;
#endif
    if (++flow->count < 2)
        return GYRE_NO_REPLY;
    reply->number = 0;
    reply->value = flow->digits;
    return GYRE_REPLY;
}
