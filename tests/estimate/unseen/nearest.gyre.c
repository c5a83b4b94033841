/* SPDX-License-Identifier: Apache-2.0 */
/* Which of 64 points of a buffer is the nearest to that of the request. */
#include <gyre/kernel.h>

#define POINT(FIELD) FIELD(f32, x) FIELD(f32, y)
GYRE_MESSAGE(point_of, POINT)
#define NEAREST(FIELD) FIELD(u32, index) FIELD(f32, square)
GYRE_MESSAGE(nearest_of, NEAREST)

#define POINTS(IN, INOUT) IN(f32, points)
GYRE_BUFFERS(points_of, POINTS)

GYRE_KERNEL_WITH(nearest, point_of, nearest_of, gyre_none, points_of)
{
    u32 best = 0;
    f32 least = 1e30f;
    for (u32 i = 0; i < 64; i++) {
        const f32 x = buffers->points[2 * i] - request->x, y = buffers->points[2 * i + 1] - request->y;
        const f32 square = x * x + y * y;
        if (square < least) {
            least = square;
            best = i;
        }
    }
    reply->index = best;
    reply->square = least;
    return GYRE_REPLY;
}
