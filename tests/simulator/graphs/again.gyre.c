/* SPDX-License-Identifier: Apache-2.0 */
/* A handler that asks to be called again counts its calls: in a word of its own message it may, in one of all messages others may be between.
 * config: [gyre]
 * config: backend = cpu
 * config: [kernel.count]
 * config: source = @:count
 * config: blocks = 2
 * config: [kernel.take]
 * config: source = @:take
 * config: [pipeline.again]
 * config: entry = count
 * config: answer = take
 * config: [link.parts]
 * config: from = count.parts
 * config: to = take
 * call: --check order,races --seeds 20
 * request: {"number":0,"value":5}
 * request: {"number":1,"value":5}
 * says: kernel 'count': check races: 
 * says: /again.gyre.c:@1 (
 */
#include <gyre/kernel.h>

#include "types.h"

#define CALLS(FIELD) FIELD(u32, plain[4]) FIELD(u32, atomic[4])
GYRE_MESSAGE(calls, CALLS)

GYRE_KERNEL_TO_WITH(count, task, gyre_none, parts_ports, calls, gyre_none)
{
#ifdef MENDED
    const u32 mine = request->number % 4;
#else
    const u32 mine = 0;
#endif
    state->plain[mine] += 1; /* 1 */
    gyre_atomic_add(&state->atomic[mine], 1u);
    if (gyre_turn(gyre) < 3)
        return GYRE_MORE;
    GYRE_GLOBAL part *out = gyre_emit(gyre, parts);
    out->which = (u32)request->number;
    out->value = state->plain[mine] + 10 * gyre_atomic_load(&state->atomic[mine]);
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(take, part, answer)
{
    reply->number = request->which;
    reply->value = request->value;
    return GYRE_REPLY;
}
