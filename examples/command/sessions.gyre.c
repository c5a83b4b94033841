/* SPDX-License-Identifier: Apache-2.0 */
/* A keyed actor with reminders: a session that was not used for a while ends by itself. */
#include <gyre/kernel.h>

#define USE(FIELD) FIELD(u64, session) FIELD(u64, idle_ms)
GYRE_MESSAGE(use, USE)

#define SESSION(FIELD) FIELD(u64, uses) FIELD(u64, ended)
GYRE_MESSAGE(session, SESSION)

GYRE_KEYED_ACTOR_REMINDED(sessions, use, session, session, session)
{
    state->uses++;
    gyre_remind(gyre, request->idle_ms * 1000000); /* in place of the one that the use before it asked for */
    *reply = *state;
    return GYRE_REPLY;
}

GYRE_REMINDED(sessions)
{
    state->uses = 0;
    state->ended++;
}
