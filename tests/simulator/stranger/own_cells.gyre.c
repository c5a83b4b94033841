/* SPDX-License-Identifier: Apache-2.0 */
/* Messages read one buffer all together and write each to cells of another one that are their own.
 *
 * expects: nothing
 * check: races,memory,deadlock,order
 * options: --blocks 2 --buffer input=zeros:128 --buffer output=zeros:128
 * request: {"number":0}
 * request: {"number":1}
 * request: {"number":2}
 * request: {"number":3} */
#include <gyre/kernel.h>

#define SLICE(FIELD) FIELD(u32, number)
GYRE_MESSAGE(slice, SLICE)
#define SMOOTH(IN, INOUT) IN(u32, input) INOUT(u32, output)
GYRE_BUFFERS(smooth_buffers, SMOOTH)

GYRE_KERNEL_WITH(own_cells, slice, slice, gyre_none, smooth_buffers)
{
    const u32 from = request->number * 8;
    if (from + 8 > buffers->output_count || buffers->input_count < buffers->output_count)
        return gyre_fail(gyre, 1, "beyond the buffers");
    for (u32 i = from; i < from + 8; i++) {
        const u32 left = i > 0 ? i - 1 : 0;
        const u32 right = i + 1 < buffers->output_count ? i + 1 : i;
        buffers->output[i] = (buffers->input[left] + buffers->input[i] + buffers->input[right]) / 3;
    }
    reply->number = request->number;
    return GYRE_REPLY;
}
