/* SPDX-License-Identifier: Apache-2.0 */
/* A desk takes the first answer for that of its first question.
 * config: [gyre]
 * config: backend = cpu
 * config: [kernel.desk]
 * config: source = @:desk
 * config: [kernel.low]
 * config: source = @:low
 * config: [kernel.high]
 * config: source = @:high
 * config: [pipeline.tokens]
 * config: entry = desk
 * config: answer = desk
 * config: quota = 8
 * config: [link.low]
 * config: from = desk.low
 * config: to = low
 * config: [link.high]
 * config: from = desk.high
 * config: to = high
 * call: --check order --seeds 40
 * request: {"task":{"number":1,"value":5}}
 * request: {"task":{"number":2,"value":7}}
 * says: with seed 
 * says: 'desk' handled messages of the requests
 */
#include <gyre/kernel.h>

#include "types.h"

#define DESK(TAKES) TAKES(task, answer) TAKES(part, answer)
GYRE_PROTOCOL(desk, DESK)
#define DESK_PORTS(PORT, ASK) ASK(task, part, low, 1) ASK(task, part, high, 1)
GYRE_PORTS_WITH_ASKS(desk_ports, DESK_PORTS)

struct parts {
    u32 count, values[2];
};
GYRE_FLOW(desk, struct parts)

GYRE_ACTOR_OF_TO(desk, DESK, desk_ports, gyre_none)
GYRE_HANDLER_TO(desk, task, answer)
{
    *gyre_ask(gyre, low, 1) = *request;
    *gyre_ask(gyre, high, 2) = *request;
    return GYRE_NO_REPLY;
}

GYRE_HANDLER_TO(desk, part, answer)
{
    GYRE_GLOBAL struct parts *flow = gyre_flow(gyre, desk);
#ifdef MENDED
    flow->values[gyre_token(gyre) - 1] = request->value;
    flow->count++;
#else
    flow->values[flow->count++] = request->value;
#endif
    if (flow->count < 2)
        return GYRE_NO_REPLY;
    reply->number = 0;
    reply->value = flow->values[0];
    return GYRE_REPLY;
}

GYRE_KERNEL(low, task, part)
{
    reply->which = 0;
    reply->value = request->value;
    return GYRE_REPLY;
}

GYRE_KERNEL(high, task, part)
{
    reply->which = 1;
    reply->value = request->value + 1;
    return GYRE_REPLY;
}
