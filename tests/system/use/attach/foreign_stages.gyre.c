/* SPDX-License-Identifier: Apache-2.0 */
/* Stages that give back what foreign.gyre.c does. Each reads the header of the flow twice, and messages part by part. */
#include <gyre/kernel.h>
#include "foreign_back.h"

#define STAGE_PORTS(PORT) PORT(foreign_ask, asks, 1) PORT(foreign_count, counts, 2)
GYRE_PORTS(stage_ports, STAGE_PORTS)

GYRE_HELPER u64 look_at_header(gyre_context *gyre)
{
    return gyre_header_id(gyre) ^ gyre_header_type(gyre);
}

GYRE_KERNEL_TO(foreign_first, foreign_ask, gyre_none, stage_ports)
{
    const u64 looked = look_at_header(gyre);
    const u32 count = request->words.count;
    GYRE_GLOBAL foreign_ask *ask = gyre_emit(gyre, asks);
    ask->number = request->number;
    ask->words = gyre_new(gyre, u64, ask, count);
    for (u32 i = 0; i < count; i++) {
        const u64 word = gyre_get(gyre, u64, request, request->words, i), now = gyre_time_ns(gyre);
        gyre_set(gyre, u64, ask, ask->words, i, now == 1 ? now : word);
    }
    ask->text = gyre_copy(gyre, u8, ask, request, request->text);
    for (u32 i = 0; i < (request->number & 3) && i < 2;
         i++) /* some flows are one message, some are several */
        gyre_emit(gyre, counts)->number = request->number;
    if (look_at_header(gyre) != looked)
        return gyre_fail(gyre, FOREIGN_CHANGED, "the header changed");
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(foreign_last, foreign_ask, foreign_told)
{
    const u64 looked = look_at_header(gyre);
    give_back(request, reply, gyre);
    if (look_at_header(gyre) != looked)
        return gyre_fail(gyre, FOREIGN_CHANGED, "the header changed");
    return GYRE_REPLY;
}

GYRE_ACTOR(foreign_tally, foreign_count, gyre_none, foreign_state)
{
    state->handled++;
    return GYRE_NO_REPLY;
}
