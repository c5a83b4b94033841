/* SPDX-License-Identifier: Apache-2.0 */
/* A protocol by messages with text: the items of the reply are made by the dialect, and all of them are written.
 *
 * expects: nothing
 * request: {"text":"never odd or even","number":1} */
#include <gyre/kernel.h>

#define LINE(FIELD) FIELD(utf8, text) FIELD(u32, number)
GYRE_MESSAGE_TAIL(line, LINE, 64)

GYRE_KERNEL(lines, line, line)
{
    const u32 count = request->text.count;
    reply->number = request->number;
    reply->text = gyre_new(gyre, u8, reply, count);
    for (u32 i = 0; i < count; i++)
        gyre_set(gyre, u8, reply, reply->text, i, gyre_get(gyre, u8, request, request->text, count - 1 - i));
    return GYRE_REPLY;
}
