/* SPDX-License-Identifier: Apache-2.0 */
/* A large request and a small reply: each lane reads its own KiB. */
#include <gyre/kernel.h>

#define NUMBERS(FIELD) FIELD(u32, values[256])
GYRE_MESSAGE(numbers, NUMBERS)
#define TOTAL(FIELD) FIELD(u32, sum)
GYRE_MESSAGE(total, TOTAL)

GYRE_KERNEL(sum, numbers, total)
{
    u32 sum = 0;
    for (u32 i = 0; i < 256; i++)
        sum += request->values[i];
    reply->sum = sum;
    return GYRE_REPLY;
}
