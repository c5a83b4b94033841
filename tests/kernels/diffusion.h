/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_DIFFUSION_H
#define GYRE_KERNELS_DIFFUSION_H

#include <gyre/message.h>

enum { DIFFUSION_BLOCKS = 1024 };

#define DIFFUSION_REQUEST(FIELD) FIELD(u32, steps) FIELD(u32, enough)
GYRE_MESSAGE(diffusion_request, DIFFUSION_REQUEST)
#define DIFFUSION_REPLY(FIELD) FIELD(u32, steps) FIELD(u32, change) FIELD(i64, sum)
GYRE_MESSAGE(diffusion_reply, DIFFUSION_REPLY)
#define DIFFUSION_STATE(FIELD) FIELD(i64, change[1024]) FIELD(i64, sum)
GYRE_MESSAGE(diffusion_state, DIFFUSION_STATE)

#endif
