/* SPDX-License-Identifier: Apache-2.0 */
/* Messages wait for a partner's mark, and go on alone after a second, which nobody can but the clock.
 *
 * expects: nothing
 * check: races,memory,deadlock
 * options: --blocks 2
 * request: {"place":0}
 * request: {"place":1} */
#include <gyre/kernel.h>

#define MEET(FIELD) FIELD(u32, place)
GYRE_MESSAGE(meet, MEET)
#define MARKS(FIELD) FIELD(u32, of_place[4])
GYRE_MESSAGE(marks, MARKS)

GYRE_KERNEL_WITH(patient, meet, meet, marks, gyre_none)
{
    const u64 until_ns = gyre_time_ns(gyre) + 1000000000u;
    while (gyre_atomic_load(&state->of_place[request->place + 2]) == 0)
        if (gyre_time_ns(gyre) > until_ns) {
            reply->place = request->place;
            return GYRE_REPLY;
        }
    reply->place = 4;
    return GYRE_REPLY;
}
