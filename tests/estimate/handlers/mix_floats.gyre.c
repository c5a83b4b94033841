/* SPDX-License-Identifier: Apache-2.0 */
/* f32 arithmetic with a square root and a division at each turn. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)

GYRE_KERNEL(mix_floats, work, done)
{
    f32 x = (f32)(request->seed % 1000u) + 1.0f, y = 0.5f;
    for (u32 i = 0; i < request->turns; i++) {
        y = sqrtf(x + y);
        x = x / (y + 1.0f) + 3.0f;
    }
    reply->value = (u32)(x * 1000.0f);
    return GYRE_REPLY;
}
