/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of one request go round a cycle, and the one that comes to its end last is taken for the last one sent.
 * config: [gyre]
 * config: backend = cpu
 * config: [kernel.fork]
 * config: source = @:fork
 * config: [kernel.walk]
 * config: source = @:walk
 * config: blocks = 2
 * config: [kernel.join]
 * config: source = @:join
 * config: [pipeline.cycle]
 * config: entry = fork
 * config: answer = join
 * config: quota = 8
 * config: [link.parts]
 * config: from = fork.parts
 * config: to = walk
 * config: [link.again]
 * config: from = walk.again
 * config: to = walk
 * config: [link.done]
 * config: from = walk.done
 * config: to = join
 * call: --check order --seeds 60
 * request: {"number":1,"value":5}
 * says: with seed 
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_KERNEL_TO(fork, task, gyre_none, parts_ports)
{
    for (u32 i = 0; i < 4; i++) {
        GYRE_GLOBAL part *out = gyre_emit(gyre, parts);
        out->which = i;
        out->value = 2;
    }
    return GYRE_NO_REPLY;
}

#define WALK_PORTS(PORT) PORT(part, again, 1) PORT(part, done, 1)
GYRE_PORTS(walk_ports, WALK_PORTS)

GYRE_KERNEL_TO(walk, part, gyre_none, walk_ports)
{
    GYRE_GLOBAL part *out = request->value ? gyre_emit(gyre, again) : gyre_emit(gyre, done);
    out->which = request->which;
    out->value = request->value ? request->value - 1 : 0;
    return GYRE_NO_REPLY;
}

struct seen {
    u32 count, most;
};
GYRE_FLOW(join, struct seen)

GYRE_KERNEL(join, part, answer)
{
    GYRE_GLOBAL struct seen *flow = gyre_flow(gyre, join);
#ifdef MENDED
    flow->most = request->which > flow->most ? request->which : flow->most;
#else
    flow->most = request->which;
#endif
    if (++flow->count < 4)
        return GYRE_NO_REPLY;
    reply->number = 0;
    reply->value = flow->most;
    return GYRE_REPLY;
}
