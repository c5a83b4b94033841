/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes work on their own ranges of buffers, with bounds that are checked. */
#include <gyre/kernel.h>

#include "saxpy.h"

GYRE_BUFFERS(saxpy_buffers, SAXPY_BUFFERS)

enum failure { OUT_OF_BOUNDS = 1 };

GYRE_KERNEL_WITH(saxpy, saxpy_request, saxpy_reply, gyre_none, saxpy_buffers)
{
    const u64 start = request->start, end = start + request->count;
    f64 sum = 0;
    if (end < start || end > buffers->x_count || end > buffers->y_count)
        return gyre_fail(gyre, OUT_OF_BOUNDS, "the range ends outside the buffers");
    for (u64 i = start; i < end; i++) {
        buffers->y[i] = request->factor * buffers->x[i] + buffers->y[i];
        sum = sum + (f64)buffers->y[i];
    }
    reply->sum = sum;
    reply->x_count = buffers->x_count;
    reply->y_count = buffers->y_count;
    return GYRE_REPLY;
}
