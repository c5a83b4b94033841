/* SPDX-License-Identifier: Apache-2.0 */
/* Keyed actors: one whose states tell the order of their messages, one whose keys come and go, and others for headers and reminders. */
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

/* Its hooks and its handler tell what they see of the header. */
GYRE_KEYED_ACTOR_LIVES(keyed_letters, mark, marks, marks, key)
{
    state->count++;
    *reply = *state;
    reply->block = gyre_header_correlation(gyre);
    return GYRE_REPLY;
}

GYRE_BORN(keyed_letters)
{
    state->trace = gyre_header_correlation(gyre);
}

GYRE_PASSIVE(keyed_letters)
{
    return gyre_header_correlation(gyre) == LETTER_CLEARS ? GYRE_LEAVES : GYRE_STAYS;
}

/* ---- reminders ---- */

GYRE_KEYED_ACTOR_LIVES_REMINDED(keyed_alarms, mark, alarm_state, alarm_state, key)
{
    state->what = request->what;
    if (request->what == MARK_UNREMINDS)
        gyre_unremind(gyre);
    else if (request->what >= MARK_REMINDS)
        gyre_remind(gyre, request->number);
    if (request->what == MARK_RINGS)
        state->every_ns = request->number;
    if (request->what == MARK_FORGETS)
        gyre_forget(gyre);
    state->now_ns = gyre_time_ns(gyre);
    *reply = *state;
    return GYRE_REPLY;
}

GYRE_BORN(keyed_alarms)
{
    state->what = request->what;
}

GYRE_PASSIVE(keyed_alarms)
{
    return GYRE_LEAVES;
}

GYRE_REMINDED(keyed_alarms)
{
    state->reminded++;
    state->due_ns = reminder->due_ns;
    state->at_ns = gyre_time_ns(gyre);
    if (state->every_ns && state->reminded < 3)
        gyre_remind(gyre, state->every_ns);
    if (state->what == MARK_REFUSES)
        gyre_fail(gyre, 9, "not now");
}

/* It asks for a reminder, and has no hook that gets it. */
GYRE_KEYED_ACTOR(keyed_deaf, mark, marks, marks, key)
{
    gyre_remind(gyre, request->number);
    *reply = *state;
    return GYRE_REPLY;
}
