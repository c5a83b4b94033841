/* SPDX-License-Identifier: Apache-2.0 */
/* A keyed actor: messages of one key follow each other, so its state needs no atomics; nor does the answer depend on
 * other keys.
 *
 * expects: nothing
 * check: races,memory,deadlock,order
 * options: --blocks 2
 * request: {"person":1,"minutes":5}
 * request: {"person":2,"minutes":6}
 * request: {"person":1,"minutes":7}
 * request: {"person":2,"minutes":8}
 * request: {"person":3,"minutes":9} */
#include <gyre/kernel.h>

#define VISIT(FIELD) FIELD(u32, person) FIELD(u32, minutes)
GYRE_MESSAGE(visit, VISIT)
#define VISITS(FIELD) FIELD(u32, minutes) FIELD(u32, visits)
GYRE_MESSAGE(visits_of, VISITS)

GYRE_KEYED_ACTOR(visits, visit, visits_of, visits_of, person)
{
    state->minutes += request->minutes;
    state->visits++;
    *reply = *state;
    return GYRE_REPLY;
}
