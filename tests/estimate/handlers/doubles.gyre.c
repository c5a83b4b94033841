/* SPDX-License-Identifier: Apache-2.0 */
/* A chain of f64 operations. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)

GYRE_KERNEL(doubles, work, done)
{
    f64 x = (f64)request->seed, y = 0.5;
    for (u32 i = 0; i < request->turns; i++) {
        x = x * 0.75 + y;
        y = y * 0.5 - x * 0.25;
    }
    reply->value = (u32)(i32)x;
    return GYRE_REPLY;
}
