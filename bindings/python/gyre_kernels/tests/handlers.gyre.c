/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the Python package call. */
#include <gyre/kernel.h>

#define SAMPLE(FIELD) FIELD(f64, value) FIELD(f64, factor)
GYRE_MESSAGE(sample, SAMPLE)
#define SCALED(FIELD) FIELD(f64, result)
GYRE_MESSAGE(scaled, SCALED)

GYRE_KERNEL(scale, sample, scaled)
{
    reply->result = request->value * request->factor;
    return GYRE_REPLY;
}

/* Fails, or does not reply, where it is told to; waits for as long as it is told. */
#define WISH(FIELD) FIELD(u32, number) FIELD(u32, outcome) FIELD(u64, turns)
GYRE_MESSAGE(wish, WISH)
#define GRANTED(FIELD) FIELD(u32, number)
GYRE_MESSAGE(granted, GRANTED)

GYRE_KERNEL(grant, wish, granted)
{
    u64 noise = request->number;
    for (u64 i = 0; i < request->turns; i++)
        noise = noise * 6364136223846793005u + 1442695040888963407u;
    if (request->outcome == 3)
        return gyre_fail(gyre, 7, "as it was told");
    reply->number = noise == 42 && request->turns ? 0 : request->number;
    return request->outcome == 2 ? GYRE_NO_REPLY : GYRE_REPLY;
}

/* Each kind of field there is; sent back as it came. */
#define POINT(FIELD) FIELD(f32, x) FIELD(i64, y)
GYRE_MESSAGE(point, POINT)
#define MIXED(FIELD)                                                                                         \
    FIELD(i8, a)                                                                                             \
    FIELD(i16, b)                                                                                            \
    FIELD(i32, c)                                                                                            \
    FIELD(i64, d)                                                                                            \
    FIELD(u8, e)                                                                                             \
    FIELD(u16, f)                                                                                            \
    FIELD(u32, g)                                                                                            \
    FIELD(u64, h)                                                                                            \
    FIELD(f32, i) FIELD(f64, j) FIELD(id128, k) FIELD(point, corners[2][3]) FIELD(u16, grid[2][2])
GYRE_MESSAGE(mixed, MIXED)

GYRE_KERNEL(mirror, mixed, mixed)
{
    *reply = *request;
    return GYRE_REPLY;
}

#define TOTALS(FIELD) FIELD(u64, count) FIELD(f64, sum)
GYRE_MESSAGE(totals, TOTALS)

GYRE_ACTOR(total, scaled, totals, totals)
{
    state->count++;
    state->sum += request->result;
    *reply = *state;
    return GYRE_REPLY;
}

#define GAINS(IN, INOUT) IN(f64, gain)
GYRE_BUFFERS(gains, GAINS)

GYRE_KERNEL_WITH(amplify, granted, scaled, gyre_none, gains)
{
    if (request->number >= buffers->gain_count)
        return gyre_fail(gyre, 1, "no such gain");
    reply->result = buffers->gain[request->number];
    return GYRE_REPLY;
}
