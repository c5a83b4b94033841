/* SPDX-License-Identifier: Apache-2.0 */
/* Sums a range of a buffer. Planted: the range is compared with the bytes of the buffer, not with its cells.
 *
 * expects: index
 * options: --buffer log=zeros:128
 * request: {"from":8,"count":8}
 * request: {"from":8,"count":9} */
#include <gyre/kernel.h>

#define ASK(FIELD) FIELD(u32, from) FIELD(u32, count)
GYRE_MESSAGE(ask, ASK)
#define SUM(FIELD) FIELD(u64, sum)
GYRE_MESSAGE(sum_of, SUM)
#define LOG(IN, INOUT) IN(u64, log)
GYRE_BUFFERS(log_buffers, LOG)

GYRE_KERNEL_WITH(last_cell, ask, sum_of, gyre_none, log_buffers)
{
    const GYRE_GLOBAL u64 *from = buffers->log + request->from;
    u64 sum = 0;
    if (request->from + request->count > buffers->log_count * sizeof(u64))
        return gyre_fail(gyre, 1, "beyond the buffer");
    for (u32 i = 0; i < request->count; i++)
        sum += from[i]; /* first */
    reply->sum = sum;
    return GYRE_REPLY;
}
