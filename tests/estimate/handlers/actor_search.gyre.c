/* SPDX-License-Identifier: Apache-2.0 */
/* An actor that looks for a place in a table, from one entry to the next. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)
#define PLACE(FIELD) FIELD(u32, key) FIELD(u32, count) FIELD(u32, sum)
GYRE_MESSAGE(place, PLACE)
#define PLACES(FIELD) FIELD(place, places[1024])
GYRE_MESSAGE(places, PLACES)

GYRE_ACTOR(actor_search, work, done, places)
{
    const u32 first = request->seed * 2654435761u >> 22;
    u32 at = first, looked = 0;
    while (looked < request->turns && state->places[at].key != request->seed + 1) {
        at = (at + 1) % 1024u;
        looked++;
    }
    state->places[at].count++;
    state->places[at].sum += looked;
    reply->value = state->places[at].sum;
    return GYRE_REPLY;
}
