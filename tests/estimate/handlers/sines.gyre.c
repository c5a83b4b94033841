/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the mathematics library. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)

GYRE_KERNEL(sines, work, done)
{
    f32 x = (f32)(request->seed % 1000u);
    for (u32 i = 0; i < request->turns; i++)
        x = sinf(x) + 2.0f * expf(-x);
    reply->value = (u32)(x * 1000.0f);
    return GYRE_REPLY;
}
