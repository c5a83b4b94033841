/* SPDX-License-Identifier: Apache-2.0 */
/* Two blocks add to the memory of a flow in two steps, and a sum is lost between them: no race, for both are atomic.
 * config: [gyre]
 * config: backend = cpu
 * config: [kernel.cut]
 * config: source = @:cut
 * config: [kernel.tally]
 * config: source = @:tally
 * config: blocks = 2
 * config: [pipeline.lost]
 * config: entry = cut
 * config: answer = tally
 * config: [link.parts]
 * config: from = cut.parts
 * config: to = tally
 * call: --check order,races --seeds 60
 * request: {"number":1,"value":5}
 * says: with seed 
 * says: 'tally' reads state->sum at 
 * says: /lost.gyre.c:@1 (
 * says: what 'tally' wrote at 
 * says: /lost.gyre.c:@2 (
 */
#include <gyre/kernel.h>

#include "types.h"

GYRE_KERNEL_TO(cut, task, gyre_none, parts_ports)
{
    for (u32 i = 0; i < 4; i++) {
        GYRE_GLOBAL part *out = gyre_emit(gyre, parts);
        out->which = i;
        out->value = request->value;
    }
    return GYRE_NO_REPLY;
}

#define SUM(FIELD) FIELD(u32, sum) FIELD(u32, count)
GYRE_MESSAGE(sums, SUM)

GYRE_KERNEL_WITH(tally, part, answer, sums, gyre_none)
{
    reply->number = 0;
#ifdef MENDED /* one word: whoever adds the last part gets what all of them added before */
    const u32 before = gyre_atomic_add(&state->sum, request->value << 8 | 1u);
    if ((before & 255) < 3)
        return GYRE_NO_REPLY;
    reply->value = (before >> 8) + request->value;
#else
    const u32 sum = gyre_atomic_load(&state->sum);        /* 1 */
    gyre_atomic_store(&state->sum, sum + request->value); /* 2 */
    if (gyre_atomic_add(&state->count, 1u) < 3)
        return GYRE_NO_REPLY;
    reply->value = gyre_atomic_load(&state->sum);
#endif
    return GYRE_REPLY;
}
