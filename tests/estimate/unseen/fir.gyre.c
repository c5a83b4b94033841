/* SPDX-License-Identifier: Apache-2.0 */
/* A filter over 64 samples, by floats. */
#include <gyre/kernel.h>

#define SAMPLES(FIELD) FIELD(f32, values[64])
GYRE_MESSAGE(samples, SAMPLES)
#define LEVEL(FIELD) FIELD(f32, energy) FIELD(f32, peak)
GYRE_MESSAGE(level, LEVEL)

GYRE_KERNEL(fir, samples, level)
{
    f32 energy = 0, peak = 0;
    for (u32 i = 7; i < 64; i++) {
        f32 sum = 0;
        for (u32 j = 0; j < 8; j++)
            sum += request->values[i - j] * (0.25f - 0.03f * (f32)j);
        energy += sum * sum;
        peak = sum > peak ? sum : peak;
    }
    reply->energy = energy;
    reply->peak = peak;
    return GYRE_REPLY;
}
