/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that computes the 25 sums of a message. */
#include <gyre/kernel.h>

#include "bench_messages.h"

GYRE_KERNEL(vector_add, add_request, add_reply)
{
    for (u32 i = 0; i < 25; i++)
        reply->sum[i] = request->a[i] + request->b[i];
    return GYRE_REPLY;
}
