/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers in every form that leave out their replies, or parts of them. */
#include <gyre/kernel.h>
#include "foreign.h"

GYRE_HELPER gyre_result nothing(void)
{
    return GYRE_REPLY;
}

GYRE_KERNEL(nothing_small, foreign_count, foreign_holes)
{
    return nothing();
}

GYRE_KERNEL(nothing_large, foreign_count, foreign_large)
{
    return nothing();
}

GYRE_BLOCK_KERNEL(nothing_block, foreign_count, foreign_large, gyre_none)
{
    return nothing();
}

GYRE_ACTOR(nothing_actor, foreign_count, foreign_large, foreign_state)
{
    state->handled++;
    return nothing();
}

/* One request in two fills what it makes; the next one makes the same and fills nothing. */
GYRE_KERNEL(nothing_tail, foreign_count, foreign_tail)
{
    reply->words = gyre_new(gyre, u64, reply, 20);
    reply->text = gyre_new(gyre, u8, reply, 60);
    for (u32 i = 0; request->number % 2 && i < 20; i++)
        gyre_set(gyre, u64, reply, reply->words, i, ~(u64)0);
    for (u32 i = 0; request->number % 2 && i < 60; i++)
        gyre_set(gyre, u8, reply, reply->text, i, 'x');
    return GYRE_REPLY;
}

GYRE_KERNEL_OF(foreign_left_out, FOREIGN_LEFT_OUT)

GYRE_HANDLER(foreign_left_out, foreign_poke, foreign_holes)
{
    return nothing();
}

GYRE_HANDLER(foreign_left_out, foreign_large, foreign_large)
{
    if (request->one)
        *reply = *request;
    return GYRE_REPLY;
}
