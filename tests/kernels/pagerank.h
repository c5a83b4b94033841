/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_PAGERANK_H
#define GYRE_KERNELS_PAGERANK_H

#include <gyre/message.h>

#define PAGERANK_REQUEST(FIELD) FIELD(u32, turns) FIELD(f32, damping)
GYRE_MESSAGE(pagerank_request, PAGERANK_REQUEST)
#define PAGERANK_REPLY(FIELD) FIELD(f32, total) FIELD(f32, change) FIELD(u32, highest)
GYRE_MESSAGE(pagerank_reply, PAGERANK_REPLY)
#define PAGERANK_BUFFERS(IN, INOUT)                                                                          \
    IN(u32, row_starts) IN(u32, sources) IN(f32, weights) INOUT(f32, ranks) INOUT(f32, next)

#endif
