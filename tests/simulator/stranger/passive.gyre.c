/* SPDX-License-Identifier: Apache-2.0 */
/* Planted: the oldest key is asked whether it leaves, and looks behind its array.
 *
 * expects: hook
 * check: memory,deadlock
 * options: --set kernel.passive.keys=1
 * request: {"key":1}
 * request: {"key":2}
 * request: {"key":3} */
#include <gyre/kernel.h>

#define USE(FIELD) FIELD(u32, key)
GYRE_MESSAGE(use, USE)
#define MARKS(FIELD) FIELD(u32, marks[4]) FIELD(u32, uses)
GYRE_MESSAGE(marks_of, MARKS)

GYRE_KEYED_ACTOR_LIVES(passive, use, marks_of, marks_of, key)
{
    state->uses++;
    *reply = *state;
    return GYRE_REPLY;
}

GYRE_BORN(passive)
{
    state->marks[0] = 1;
}

GYRE_PASSIVE(passive)
{
    u32 sum = 0;
    for (u32 i = 0; i <= 4; i++)
        sum += state->marks[i]; /* first */
    return sum ? GYRE_LEAVES : GYRE_STAYS;
}
