/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes count into shared state with atomics. */
#include <gyre/kernel.h>

#include "histogram.h"

GYRE_KERNEL_WITH(histogram, histogram_request, histogram_reply, histogram_state, gyre_none)
{
    if (!gyre_assert(gyre, request->count <= 60))
        return GYRE_FAILED;
    for (u32 i = 0; i < request->count; i++) {
        const u32 value = request->values[i];
        gyre_atomic_add(&state->bins[value * HISTOGRAM_BINS / 256], 1u);
        gyre_atomic_add(&state->total, (u64)value);
        gyre_atomic_max(&state->largest, value);
        gyre_atomic_min(&state->smallest, value);
    }
    reply->counted = request->count;
    return GYRE_REPLY;
}
