/* SPDX-License-Identifier: Apache-2.0 */
/* Several types in a block kernel: all lanes of the block run the handler of the message's type. */
#include <gyre/kernel.h>
#include "sorting.h"

GYRE_BLOCK_KERNEL_OF(sorting, SORTING, gyre_none)

GYRE_HANDLER(sorting, numbers, total)
{
    const GYRE_GLOBAL u32 *numbers = gyre_items(u32, request, request->numbers);
    u32 sum = 0, largest = 0;
    for (u32 i = gyre_lane(gyre); i < request->numbers.count; i += gyre_lane_count(gyre)) {
        sum += numbers[i];
        largest = numbers[i] > largest ? numbers[i] : largest;
    }
    sum = gyre_block_sum_u32(gyre, sum);
    largest = gyre_block_max_u32(gyre, largest);
    if (gyre_lane(gyre) == 0) {
        reply->sum = sum;
        reply->largest = largest;
    }
    return GYRE_REPLY;
}

GYRE_HANDLER(sorting, letters, turned)
{
    if (gyre_lane(gyre) == 0)
        reply->letters = gyre_new(gyre, u8, reply, 24);
    gyre_barrier(gyre);
    for (u32 i = gyre_lane(gyre); i < 24; i += gyre_lane_count(gyre))
        gyre_writable(u8, reply, reply->letters)[i] = request->letters[23 - i];
    return GYRE_REPLY;
}
