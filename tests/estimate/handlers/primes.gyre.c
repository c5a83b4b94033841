/* SPDX-License-Identifier: Apache-2.0 */
/* How many primes there are below a number: loops in loops, with divisions and ways out. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)

GYRE_KERNEL(primes, work, done)
{
    u32 found = request->seed & 1u;
    for (u32 n = 2; n < request->turns; n++) {
        if (n > 2 && n % 2 == 0)
            continue;
        u32 divisor = 3;
        for (; divisor * divisor <= n; divisor += 2)
            if (n % divisor == 0)
                break;
        if (divisor * divisor > n)
            found++;
    }
    reply->value = found;
    return GYRE_REPLY;
}
