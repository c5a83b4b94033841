/* SPDX-License-Identifier: Apache-2.0 */
/* An actor that fails each message. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)
#define COUNT(FIELD) FIELD(u32, count)
GYRE_MESSAGE(count, COUNT)

GYRE_ACTOR(actor_fails, work, done, count)
{
    state->count++;
    if (request->turns > 0)
        return gyre_fail(gyre, 7, "there is no such turn");
    reply->value = state->count;
    return GYRE_REPLY;
}
