/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_PARTICLES_H
#define GYRE_KERNELS_PARTICLES_H

#include <gyre/message.h>

#define POINT(FIELD) FIELD(f64, x) FIELD(f64, y)
GYRE_MESSAGE(point, POINT)
#define PARTICLE(FIELD) FIELD(point, position) FIELD(point, velocity) FIELD(u8, charge) FIELD(f64, mass)
GYRE_MESSAGE(particle, PARTICLE)
#define PARTICLES_REQUEST(FIELD) FIELD(u32, turns) FIELD(f64, dt) FIELD(particle, particles[4])
GYRE_MESSAGE(particles_request, PARTICLES_REQUEST)
#define PARTICLES_REPLY(FIELD) FIELD(particle, particles[4]) FIELD(f64, energy) FIELD(point, corner[2])
GYRE_MESSAGE(particles_reply, PARTICLES_REPLY)

#endif
