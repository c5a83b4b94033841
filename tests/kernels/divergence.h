/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_DIVERGENCE_H
#define GYRE_KERNELS_DIVERGENCE_H

#include <gyre/message.h>

#define DIVERGENCE_REQUEST(FIELD) FIELD(u32, way)
GYRE_MESSAGE(divergence_request, DIVERGENCE_REQUEST)
#define DIVERGENCE_REPLY(FIELD) FIELD(u32, lanes)
GYRE_MESSAGE(divergence_reply, DIVERGENCE_REPLY)

#endif
