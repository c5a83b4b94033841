/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest lane kernel: arrays in, array out. */
#include <gyre/kernel.h>

#include "vector_add.h"

GYRE_KERNEL(vector_add, add_request, add_reply)
{
    for (u32 i = 0; i < 25; i++)
        reply->sum[i] = request->a[i] + request->b[i];
    return GYRE_REPLY;
}
