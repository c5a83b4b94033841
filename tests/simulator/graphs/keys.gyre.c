/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of one key come by two links, whose order among each other nothing gives.
 * config: [gyre]
 * config: backend = cpu
 * config: [kernel.fork]
 * config: source = @:fork
 * config: [kernel.low]
 * config: source = @:low
 * config: [kernel.high]
 * config: source = @:high
 * config: [kernel.last]
 * config: source = @:last
 * config: blocks = 2
 * config: [pipeline.keys]
 * config: entry = fork
 * config: answer = last
 * config: [link.left]
 * config: from = fork.left
 * config: to = low
 * config: [link.right]
 * config: from = fork.right
 * config: to = high
 * config: [link.from_low]
 * config: from = low.onward
 * config: to = last
 * config: [link.from_high]
 * config: from = high.onward
 * config: to = last
 * call: --check order --seeds 40
 * request: {"number":1,"value":5}
 * says: with seed 
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_KERNEL_TO(fork, task, gyre_none, roads_ports)
{
    GYRE_GLOBAL part *one = gyre_emit(gyre, left);
    one->which = 7;
    one->value = request->value;
    GYRE_GLOBAL part *other = gyre_emit(gyre, right);
    other->which = 7;
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

#define KEPT(FIELD) FIELD(u32, count) FIELD(u32, latest) FIELD(u32, most)
GYRE_MESSAGE(kept, KEPT)

GYRE_KEYED_ACTOR(last, part, answer, kept, which)
{
    state->latest = request->value;
    if (request->value > state->most)
        state->most = request->value;
    if (++state->count < 2)
        return GYRE_NO_REPLY;
    reply->number = 0;
#ifdef MENDED
    reply->value = state->most;
#else
    reply->value = state->latest;
#endif
    return GYRE_REPLY;
}
