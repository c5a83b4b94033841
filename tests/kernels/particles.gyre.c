/* SPDX-License-Identifier: Apache-2.0 */
/* Structs in structs, by value and by pointer, and f64. */
#include <gyre/kernel.h>

#include "particles.h"

GYRE_HELPER point add_scaled(point a, point b, f64 scale)
{
    a.x = a.x + b.x * scale;
    a.y = a.y + b.y * scale;
    return a;
}

GYRE_HELPER point gravity(point at)
{
    point pull;
    pull.x = -at.y * 0.5;
    pull.y = at.x * 0.5 - 9.81;
    return pull;
}

GYRE_HELPER void widen(GYRE_GLOBAL point *corner, point at)
{
    corner[0].x = at.x < corner[0].x ? at.x : corner[0].x;
    corner[0].y = at.y < corner[0].y ? at.y : corner[0].y;
    corner[1].x = at.x > corner[1].x ? at.x : corner[1].x;
    corner[1].y = at.y > corner[1].y ? at.y : corner[1].y;
}

GYRE_KERNEL(particles, particles_request, particles_reply)
{
    f64 energy = 0;
    if (!gyre_assert(gyre, request->dt)) /* a number is a condition, as in C */
        return GYRE_FAILED;
    for (u32 i = 0; i < 4; i++) {
        particle moving = request->particles[i];
        for (u32 turn = 0; turn < request->turns; turn++) {
            moving.velocity = add_scaled(moving.velocity, gravity(moving.position), request->dt);
            moving.position = add_scaled(moving.position, moving.velocity, request->dt);
        }
        const point v = moving.velocity;
        energy = energy + moving.mass * (v.x * v.x + v.y * v.y) / 2;
        reply->particles[i] = moving;
        if (i == 0) {
            reply->corner[0] = moving.position;
            reply->corner[1] = moving.position;
        }
        widen(reply->corner, moving.position);
    }
    reply->energy = energy;
    return GYRE_REPLY;
}
