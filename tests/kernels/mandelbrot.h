/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_MANDELBROT_H
#define GYRE_KERNELS_MANDELBROT_H

#include <gyre/message.h>

#define MANDELBROT_REQUEST(FIELD) FIELD(f64, x) FIELD(f64, y) FIELD(f64, width) FIELD(u32, limit)
GYRE_MESSAGE(mandelbrot_request, MANDELBROT_REQUEST)
#define MANDELBROT_REPLY(FIELD) FIELD(u16, turns[8][8])
GYRE_MESSAGE(mandelbrot_reply, MANDELBROT_REPLY)

#endif
