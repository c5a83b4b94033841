/* SPDX-License-Identifier: Apache-2.0 */
/* f64 whose every bit counts: the least difference changes the picture. */
#include <gyre/kernel.h>

#include "mandelbrot.h"

GYRE_HELPER u32 escape(f64 cx, f64 cy, u32 limit)
{
    f64 x = 0, y = 0;
    u32 turns = 0;
    while (turns < limit && x * x + y * y <= 4.0) {
        const f64 next = x * x - y * y + cx;
        y = 2.0 * x * y + cy;
        x = next;
        turns++;
    }
    return turns;
}

GYRE_KERNEL(mandelbrot, mandelbrot_request, mandelbrot_reply)
{
    for (u32 row = 0; row < 8; row++) {
        for (u32 column = 0; column < 8; column++) {
            const f64 x = request->x + request->width * (f64)column / 8.0;
            const f64 y = request->y + request->width * (f64)row / 8.0;
            reply->turns[row][column] = (u16)escape(x, y, request->limit);
        }
    }
    return GYRE_REPLY;
}
