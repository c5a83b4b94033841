/* SPDX-License-Identifier: Apache-2.0 */
/* Constant tables of numbers, text and structs. */
#include <gyre/kernel.h>

#include "lookup.h"

GYRE_CONSTANT u8 month_days[2][12] = {{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31},
                                      {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}};
GYRE_CONSTANT f32 curve[5] = {0.0f, 1.5f, 2.0f, -1.0f, 4.0f};
GYRE_CONSTANT u8 letters[17] = "0123456789abcdef";
typedef struct weight {
    u32 from, factor;
} weight;
GYRE_CONSTANT weight weights[3] = {{0, 2}, {100, 3}, {1000, 5}};

GYRE_HELPER f32 interpolate(f32 at)
{
    const f32 position = fminf(fmaxf(at, 0.0f), 3.999f);
    const u32 index = (u32)position;
    const f32 part = position - (f32)index;
    return curve[index] + (curve[index + 1] - curve[index]) * part;
}

GYRE_KERNEL(lookup, lookup_request, lookup_reply)
{
    const u32 year = request->year;
    const u32 leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (!gyre_assert(gyre, request->month >= 1 && request->month <= 12))
        return GYRE_FAILED;
    reply->days = month_days[leap][request->month - 1];
    reply->letter = letters[request->index % 16];
    reply->interpolated = interpolate(request->at);
    reply->weight = 0;
    for (u32 i = 0; i < sizeof weights / sizeof weights[0]; i++)
        if (request->index >= weights[i].from)
            reply->weight = request->index * weights[i].factor;
    return GYRE_REPLY;
}
