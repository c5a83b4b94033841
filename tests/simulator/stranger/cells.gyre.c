/* SPDX-License-Identifier: Apache-2.0 */
/* Each message fills a range of a buffer. Planted: ranges that end where the next one begins have one cell in common.
 *
 * expects: race
 * options: --buffer cells=zeros:128
 * request: {"from":0,"to":8,"value":1}
 * request: {"from":8,"to":16,"value":2} */
#include <gyre/kernel.h>

#define RANGE(FIELD) FIELD(u32, from) FIELD(u32, to) FIELD(u32, value)
GYRE_MESSAGE(range, RANGE)
#define FILLED(FIELD) FIELD(u32, cells)
GYRE_MESSAGE(filled, FILLED)
#define CELLS(IN, INOUT) INOUT(u32, cells)
GYRE_BUFFERS(cells_buffers, CELLS)

GYRE_KERNEL_WITH(cells, range, filled, gyre_none, cells_buffers)
{
    if (request->to >= buffers->cells_count)
        return gyre_fail(gyre, 1, "beyond the buffer");
    for (u32 i = request->from; i <= request->to; i++)
        buffers->cells[i] = request->value; /* first */ /* second */
    reply->cells = request->to - request->from;
    return GYRE_REPLY;
}
