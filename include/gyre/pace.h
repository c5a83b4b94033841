/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often messages are timed that come fast (GYRE_PACE_NS): for hosts, which see them in batches. Clients and devices need not agree:
 * both keep messages whose index is a multiple of a power of two, so what the coarser of both keeps is kept by the other as well.
 */
#ifndef GYRE_PACE_H
#define GYRE_PACE_H

#include <stdint.h>

#include "gyre/ring_layout.h"

/**
 * The next stride of a queue whose messages with an index that is a multiple of `stride` are timed, and all multiples of `every` would be if
 * they came slowly; both are powers of two. `count` messages are timed now, `gap_ns` after the last ones.
 */
static inline uint64_t gyre_pace_stride(uint64_t stride, uint64_t every, uint64_t count, uint64_t gap_ns)
{
    const uint64_t most = GYRE_PASS_MOST + 1, pace_ns = GYRE_PACE_NS;
    if (every < GYRE_PACED_FROM || gap_ns > most * pace_ns)
        return every;
    if (gap_ns < pace_ns * count && stride < every * most)
        return stride * 2;
    return gap_ns > 4 * pace_ns * count && stride > every ? stride / 2 : stride;
}

#endif
