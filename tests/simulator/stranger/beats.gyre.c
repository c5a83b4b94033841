/* SPDX-License-Identifier: Apache-2.0 */
/* A key is reminded as soon as it has been used, and counts its reminders in an array that has one item too few.
 *
 * expects: warning
 * request: {"key":1,"add":1}
 * request: {"key":1,"add":1}
 * request: {"key":1,"add":1} */
#include <gyre/kernel.h>

#define USE(FIELD) FIELD(u64, key) FIELD(u32, add)
GYRE_MESSAGE(use, USE)
#define USES(FIELD) FIELD(u32, uses)
GYRE_MESSAGE(uses, USES)
#define KEPT(FIELD) FIELD(u32, uses) FIELD(u32, beats[2]) FIELD(u32, latest)
GYRE_MESSAGE(kept, KEPT)

GYRE_KEYED_ACTOR_REMINDED(beats, use, uses, kept, key)
{
    state->uses += request->add;
    state->latest = 1 + state->uses % 2;
    gyre_remind(gyre, 1000);
    reply->uses = state->uses;
    return GYRE_REPLY;
}

GYRE_REMINDED(beats)
{
    state->beats[state->latest]++; /* first */
}
