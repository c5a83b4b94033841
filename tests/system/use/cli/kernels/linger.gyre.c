/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the block of a key at work for as long as a message says. */
#include <gyre/kernel.h>

#define LINGERING(FIELD) FIELD(u64, who) FIELD(u64, milliseconds)
GYRE_MESSAGE(lingering, LINGERING)

GYRE_KEYED_ACTOR(linger, lingering, lingering, lingering, who)
{
    const u64 start = gyre_time_ns(gyre);
    while (gyre_time_ns(gyre) - start < request->milliseconds * 1000000)
        ;
    state->milliseconds += request->milliseconds;
    *reply = *state;
    return GYRE_REPLY;
}
