/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_STENCIL_H
#define GYRE_KERNELS_STENCIL_H

#include <gyre/message.h>

#define STENCIL_N              16
#define STENCIL_REQUEST(FIELD) FIELD(u32, turns) FIELD(f32, rate) FIELD(f32, grid[STENCIL_N][STENCIL_N])
GYRE_MESSAGE(stencil_request, STENCIL_REQUEST)
#define STENCIL_REPLY(FIELD) FIELD(f32, grid[STENCIL_N][STENCIL_N]) FIELD(f32, change)
GYRE_MESSAGE(stencil_reply, STENCIL_REPLY)
#define STENCIL_SCRATCH(FIELD) FIELD(f32, grid[2][STENCIL_N][STENCIL_N])
GYRE_MESSAGE(stencil_scratch, STENCIL_SCRATCH)

#endif
