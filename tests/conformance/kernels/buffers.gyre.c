/* SPDX-License-Identifier: Apache-2.0 */
/* Device buffers: one that is read, one that is written. */
#include <gyre/kernel.h>
#include "messages.h"

#define SCALE_BUFFERS(IN, INOUT) IN(f32, weights) INOUT(u32, hits)
GYRE_BUFFERS(scale_buffers, SCALE_BUFFERS)

/* Replies weights[i] * 2 as an integer, and counts who was asked for. */
GYRE_KERNEL_WITH(scale, words_1, words_1, gyre_none, scale_buffers)
{
    u64 i = request->w[0];
    if (!gyre_assert(gyre, i < buffers->weights_count && i < buffers->hits_count))
        return GYRE_FAILED;
    gyre_atomic_add(&buffers->hits[i], (u32)1);
    reply->w[0] = (u64)(buffers->weights[i] * 2.0f);
    return GYRE_REPLY;
}
