/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of one file for the tests of `gyre call`: every outcome, every scalar, buffers, a slow one. */
#include <gyre/kernel.h>

#define POINT(FIELD) FIELD(f32, x) FIELD(f64, y)
GYRE_MESSAGE(point, POINT)
#define INTEGERS(FIELD)                                                                                      \
    FIELD(i8, a)                                                                                             \
    FIELD(i16, b) FIELD(i32, c) FIELD(i64, d) FIELD(u8, e) FIELD(u16, f) FIELD(u32, g) FIELD(u64, h)
#define KINDS(FIELD) INTEGERS(FIELD) FIELD(point, points[2]) FIELD(u8, text[8])
GYRE_MESSAGE(kinds, KINDS)
#define NUMBER(FIELD) FIELD(i64, value)
GYRE_MESSAGE(number, NUMBER)

/* What came in goes out, field by field. */
GYRE_KERNEL(same, kinds, kinds)
{
    *reply = *request;
    return GYRE_REPLY;
}

/* Replies to what is positive, is silent at 0, fails what is negative. */
GYRE_KERNEL(outcomes, number, number)
{
    if (request->value == 0)
        return GYRE_NO_REPLY;
    if (request->value < 0)
        return gyre_fail(gyre, 7, "negative \"value\"");
    reply->value = request->value;
    return GYRE_REPLY;
}

#define TABLES(IN, INOUT) IN(u32, weights) INOUT(u32, counts)
GYRE_BUFFERS(tables, TABLES)

GYRE_KERNEL_WITH(count, number, gyre_none, gyre_none, tables)
{
    u64 bin = (u64)request->value;
    if (bin >= buffers->weights_count || bin >= buffers->counts_count)
        return gyre_fail(gyre, 1, "no such bin");
    gyre_atomic_add(&buffers->counts[bin], buffers->weights[bin]);
    return GYRE_NO_REPLY;
}

/* Busy for `value` milliseconds. */
GYRE_KERNEL(slow, number, number)
{
    u64 end = gyre_time_ns(gyre) + (u64)request->value * 1000000u;
    while (gyre_time_ns(gyre) < end) {
    }
    reply->value = request->value;
    return GYRE_REPLY;
}

/* Asked without a word. */
GYRE_KERNEL(answer, gyre_none, number)
{
    reply->value = 42;
    return GYRE_REPLY;
}
