/* SPDX-License-Identifier: Apache-2.0 */
/* Keyed actors: one whose states tell the order of their messages, and one whose keys come and go. */
#include <gyre/kernel.h>

#include "keyed.h"

GYRE_KEYED_ACTOR(keyed_marks, mark, marks, marks, key)
{
    state->count++;
    state->trace = state->trace * 31 + request->number;
    state->block = gyre_block(gyre);
    if (request->what == MARK_FAILS)
        return gyre_fail(gyre, 7, "as it was asked to");
    if (request->what == MARK_FORGETS)
        gyre_forget(gyre);
    *reply = *state;
    return GYRE_REPLY;
}

GYRE_KEYED_ACTOR_LIVES(keyed_guests, visit, stay, stay, who.id)
{
    state->visits++;
    *reply = *state;
    return GYRE_REPLY;
}

GYRE_BORN(keyed_guests)
{
    state->born_with = request->what;
}

/* Those who were there more than once stay. */
GYRE_PASSIVE(keyed_guests)
{
    return state->visits > 1 ? GYRE_STAYS : GYRE_LEAVES;
}
