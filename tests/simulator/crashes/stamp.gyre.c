/* SPDX-License-Identifier: Apache-2.0 */
/* A stage of a pipeline stamps messages with the time, which is later when a flow begins again.
 * config: [gyre]
 * config: backend = cpu
 * config: [kernel.split]
 * config: source = @:split
 * config: [kernel.stamp]
 * config: source = @:stamp
 * config: [pipeline.stamp]
 * config: entry = split
 * config: answer = stamp
 * config: [link.halves]
 * config: from = split.halves
 * config: to = stamp
 * call: --check crash --seeds 4
 * request: {"number":1,"value":3}
 * request: {"number":2,"value":5}
 * request: {"number":3,"value":7}
 * says: second: expected
 * says: the worker process ended in message 5 of 'split', block 0, 
 * says: requests without an answer begin again in the next one
 * shrinks: yes
 */
#include <gyre/kernel.h>

#define TASK(FIELD) FIELD(u32, number) FIELD(u32, value)
GYRE_MESSAGE(task, TASK)
#define PIECE(FIELD) FIELD(u32, which) FIELD(u32, value)
GYRE_MESSAGE(piece, PIECE)
#define STAMPED(FIELD) FIELD(u32, value) FIELD(u64, second)
GYRE_MESSAGE(stamped, STAMPED)
#define HALVES(PORT) PORT(piece, halves, 2)
GYRE_PORTS(halves_ports, HALVES)

struct sums {
    u32 count, value;
};
GYRE_FLOW(stamp, struct sums)

GYRE_KERNEL_TO(split, task, gyre_none, halves_ports)
{
    for (u32 i = 0; i < 2; i++) {
        GYRE_GLOBAL piece *out = gyre_emit(gyre, halves);
        out->which = i;
        out->value = request->value + i;
    }
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(stamp, piece, stamped)
{
    GYRE_GLOBAL struct sums *flow = gyre_flow(gyre, stamp);
    flow->value += request->value;
    if (++flow->count < 2)
        return GYRE_NO_REPLY;
    reply->value = flow->value;
#ifdef MENDED
    reply->second = 1000;
#else
    reply->second = gyre_time_ns(gyre) / 1000000000u;
#endif
    return GYRE_REPLY;
}
