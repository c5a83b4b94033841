/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes share a message of 4096 bytes, and give it back. */
#include <gyre/kernel.h>

#define NUMBERS(FIELD) FIELD(u32, values[1024])
GYRE_MESSAGE(numbers, NUMBERS)

GYRE_BLOCK_KERNEL(echo, numbers, numbers, gyre_none)
{
    for (u32 i = gyre_lane(gyre); i < 1024; i += gyre_lane_count(gyre))
        reply->values[i] = request->values[i] + 1;
    return GYRE_REPLY;
}
