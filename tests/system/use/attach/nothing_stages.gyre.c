/* SPDX-License-Identifier: Apache-2.0 */
/* Stages that leave out what they send on for every other request, and reply what they got. */
#include <gyre/kernel.h>
#include "foreign.h"

#define LARGE_PORTS(PORT) PORT(foreign_large, out, 1)
GYRE_PORTS(large_ports, LARGE_PORTS)

GYRE_HELPER void fill_or_leave(GYRE_GLOBAL foreign_large *large, u64 number)
{
    if (number % 2 == 0)
        return;
    large->one = large->last = 255;
    for (u32 i = 0; i < 100; i++)
        large->words[i] = ~(u64)0;
}

GYRE_KERNEL_TO(nothing_first_lane, foreign_count, gyre_none, large_ports)
{
    fill_or_leave(gyre_emit(gyre, out), request->number);
    return GYRE_NO_REPLY;
}

GYRE_ACTOR_TO(nothing_first_actor, foreign_count, gyre_none, large_ports, foreign_state)
{
    fill_or_leave(gyre_emit(gyre, out), request->number);
    state->handled++;
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(nothing_last, foreign_large, foreign_large)
{
    *reply = *request;
    return GYRE_REPLY;
}
