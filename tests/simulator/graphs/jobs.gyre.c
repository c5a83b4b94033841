/* SPDX-License-Identifier: Apache-2.0 */
/* Members of a pool take the jobs of a request, and the answer says whether one of them took all: a turn is about a few of them.
 * config: [gyre]
 * config: backend = cpu
 * config: [kernel.cut]
 * config: source = @:cut
 * config: [kernel.left]
 * config: source = @:left
 * config: [kernel.right]
 * config: source = @:right
 * config: [kernel.sum]
 * config: source = @:sum
 * config: [pipeline.jobs]
 * config: entry = cut
 * config: answer = sum
 * config: [pool.parts]
 * config: from = cut.parts
 * config: members = left, right
 * config: [link.left]
 * config: from = left.onward
 * config: to = sum
 * config: [link.right]
 * config: from = right.onward
 * config: to = sum
 * call: --check order --seeds 40
 * request: {"number":1,"value":5}
 * says: with seed 
 * says: value: expected 
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_KERNEL_TO(cut, task, gyre_none, parts_ports)
{
    for (u32 i = 0; i < 4; i++) {
        GYRE_GLOBAL part *out = gyre_emit(gyre, parts);
        out->which = 0;
        out->value = request->value;
    }
    return GYRE_NO_REPLY;
}

/* Members touch no memory but their messages, so no turn ends inside of them. */
GYRE_KERNEL_TO(left, part, gyre_none, onward_ports)
{
    GYRE_GLOBAL part *out = gyre_emit(gyre, onward);
    out->which = 1;
    out->value = request->value;
    return GYRE_NO_REPLY;
}

GYRE_KERNEL_TO(right, part, gyre_none, onward_ports)
{
    GYRE_GLOBAL part *out = gyre_emit(gyre, onward);
    out->which = 2;
    out->value = request->value;
    return GYRE_NO_REPLY;
}

struct jobs {
    u32 count, takers, total;
};
GYRE_FLOW(sum, struct jobs)

GYRE_KERNEL(sum, part, answer)
{
    GYRE_GLOBAL struct jobs *jobs = gyre_flow(gyre, sum);
    jobs->takers |= request->which;
    jobs->total += request->value;
    if (++jobs->count < 4)
        return GYRE_NO_REPLY;
    reply->number = jobs->count;
#ifdef MENDED
    reply->value = jobs->total;
#else
    reply->value = jobs->takers == 3;
#endif
    return GYRE_REPLY;
}
