/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose buffers collectives work on. */
#include <gyre/kernel.h>
#include "collect.h"

#define COLLECT_BUFFERS(IN, INOUT) IN(f64, weights) INOUT(u32, cells)
GYRE_BUFFERS(collect_buffers, COLLECT_BUFFERS)

/* Writes a number into all cells, one after the other, and tells whether they differed before: they never do at a message boundary.
 * Stays for a while when told to. */
GYRE_KERNEL_WITH(collect_fill, fill, filled, gyre_none, collect_buffers)
{
    const u64 count = buffers->cells_count, start = request->microseconds ? gyre_time_ns(gyre) : 0;
    while (request->microseconds && gyre_time_ns(gyre) - start < (u64)request->microseconds * 1000)
        ;
    reply->before = buffers->cells[0];
    reply->uneven = buffers->weights_count == 0;
    for (u64 i = 0; i < count; i++) {
        reply->uneven += buffers->cells[i] != reply->before;
        buffers->cells[i] = request->value;
    }
    return GYRE_REPLY;
}

#define NUMBER_BUFFERS(IN, INOUT)                                                                            \
    INOUT(u32, words)                                                                                        \
    INOUT(i32, signs)                                                                                        \
    INOUT(u64, wide) INOUT(i64, wide_signs) INOUT(f32, floats) INOUT(f64, doubles) INOUT(pair, pairs)
GYRE_BUFFERS(number_buffers, NUMBER_BUFFERS)

/* Has numbers of every type. */
GYRE_KERNEL_WITH(collect_numbers, fill, filled, gyre_none, number_buffers)
{
    reply->before = buffers->words_count ? buffers->words[0] : request->value;
    reply->uneven = 0;
    return GYRE_REPLY;
}

#define OTHER_BUFFERS(IN, INOUT) IN(f64, weights) INOUT(i32, cells)
GYRE_BUFFERS(other_buffers, OTHER_BUFFERS)

/* Has a buffer of the same name with other elements. */
GYRE_KERNEL_WITH(collect_other, fill, filled, gyre_none, other_buffers)
{
    reply->before = (u32)buffers->cells[0] + request->value;
    reply->uneven = buffers->weights_count == 0;
    return GYRE_REPLY;
}
