/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_SOLVE_H
#define GYRE_KERNELS_SOLVE_H

#include <gyre/message.h>

#define SOLVE_N              6
#define SOLVE_REQUEST(FIELD) FIELD(f64, a[SOLVE_N][SOLVE_N]) FIELD(f64, b[SOLVE_N])
GYRE_MESSAGE(solve_request, SOLVE_REQUEST)
#define SOLVE_REPLY(FIELD) FIELD(f64, x[SOLVE_N]) FIELD(f64, determinant) FIELD(u32, swaps)
GYRE_MESSAGE(solve_reply, SOLVE_REPLY)

#endif
