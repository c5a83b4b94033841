/* SPDX-License-Identifier: Apache-2.0 */
/* How long a chain of numbers is: each message takes another number of turns, and no compiler foresees one. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)

GYRE_KERNEL(collatz, work, done)
{
    u32 x = request->seed % 100000u + 1, steps = 0;
    while (x != 1 && steps < request->turns) {
        x = x & 1u ? 3 * x + 1 : x / 2;
        steps++;
    }
    reply->value = steps;
    return GYRE_REPLY;
}
