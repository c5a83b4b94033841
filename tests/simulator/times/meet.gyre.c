/* SPDX-License-Identifier: Apache-2.0 */
/* Two blocks meet: each sets its mark, and waits for that of the other. */
#include <gyre/kernel.h>
#define MEET(FIELD) FIELD(u32, place)
GYRE_MESSAGE(meet, MEET)
#define MARKS(FIELD) FIELD(u32, of_place[2])
GYRE_MESSAGE(marks, MARKS)
GYRE_KERNEL_WITH(pair, meet, meet, marks, gyre_none)
{
    const u32 place = request->place & 1;
    gyre_atomic_store(&state->of_place[place], 1u);
    while (gyre_atomic_load(&state->of_place[place ^ 1]) == 0)
        ;
    reply->place = place;
    return GYRE_REPLY;
}
