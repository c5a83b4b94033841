/* SPDX-License-Identifier: Apache-2.0 */
/* Gives 8 bytes back: what the ring and the bus take without a handler. */
#include <gyre/kernel.h>

#define NUMBERS(FIELD) FIELD(u32, values[2])
GYRE_MESSAGE(numbers, NUMBERS)

GYRE_KERNEL(echo, numbers, numbers)
{
    for (u32 i = 0; i < 2; i++)
        reply->values[i] = request->values[i] + 1;
    return GYRE_REPLY;
}
