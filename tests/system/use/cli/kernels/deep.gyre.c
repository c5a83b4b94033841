/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers whose locals are larger than any default stack, up to the index that is asked for. */
#include <gyre/kernel.h>

#define DEEP_INDEX(FIELD) FIELD(u32, index)
GYRE_MESSAGE(deep_index, DEEP_INDEX)

GYRE_KERNEL(deep, deep_index, deep_index)
{
    volatile u8 bytes[4000000];
    for (u32 i = 0; i <= request->index; i++)
        bytes[i] = (u8)i;
    reply->index = bytes[request->index];
    return GYRE_REPLY;
}
