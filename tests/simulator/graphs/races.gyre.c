/* SPDX-License-Identifier: Apache-2.0 */
/* Two blocks of a stage write the state of their kernel without an atomic operation.
 * config: [gyre]
 * config: backend = cpu
 * config: [kernel.cut]
 * config: source = @:cut
 * config: [kernel.tally]
 * config: source = @:tally
 * config: blocks = 2
 * config: [pipeline.races]
 * config: entry = cut
 * config: answer = tally
 * config: [link.parts]
 * config: from = cut.parts
 * config: to = tally
 * call: --check order,races --seeds 60
 * request: {"number":1,"value":5}
 * says: kernel 'tally': check races: 
 * says: /races.gyre.c:@1 
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
#ifdef MENDED
    gyre_atomic_add(&state->sum, request->value);
#else
    state->sum += request->value; /* 1 */
#endif
    if (gyre_atomic_add(&state->count, 1u) < 3)
        return GYRE_NO_REPLY;
    reply->number = 0;
    reply->value = request->value;
    return GYRE_REPLY;
}
