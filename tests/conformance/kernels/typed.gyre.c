/* SPDX-License-Identifier: Apache-2.0 */
/* A handler for each of three types, and handlers of a type before and after it grew. */
#include <gyre/kernel.h>
#include "typed.h"

GYRE_KERNEL_OF(typed, TYPED)

GYRE_HANDLER(typed, square, area)
{
    reply->area = request->side * request->side;
    return GYRE_REPLY;
}

GYRE_HANDLER(typed, join, joined)
{
    const GYRE_GLOBAL utf8 *words = gyre_items(utf8, request, request->words);
    u32 length = 0, at = 0;
    for (u32 i = 0; i < request->words.count; i++)
        length += words[i].count;
    reply->words = request->words.count;
    reply->text = gyre_new(gyre, u8, reply, length);
    for (u32 i = 0; reply->text.count > 0 && i < request->words.count; i++)
        for (u32 k = 0; k < words[i].count; k++)
            gyre_set(gyre, u8, reply, reply->text, at++, gyre_items(u8, request, words[i])[k]);
    return GYRE_REPLY;
}

GYRE_HANDLER(typed, count, gyre_none)
{
    if (request->by == 0)
        return gyre_fail(gyre, 3, "by nothing");
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(old_report, report_old, report_old)
{
    reply->title = gyre_copy(gyre, u8, reply, request, request->title);
    reply->values = gyre_copy(gyre, u32, reply, request, request->values);
    for (u32 i = 0; i < reply->values.count; i++)
        gyre_writable(u32, reply, reply->values)[i]++;
    return GYRE_REPLY;
}

GYRE_KERNEL(new_report, report_new, report_new)
{
    reply->title = gyre_copy(gyre, u8, reply, request, request->title);
    reply->level = request->level + 1;
    reply->author = gyre_new_text(gyre, reply, "kernel");
    reply->tags = gyre_new(gyre, utf8, reply, 1);
    gyre_writable(utf8, reply, reply->tags)[0] = gyre_new_text(gyre, reply, "new");
    reply->values = gyre_copy(gyre, u32, reply, request, request->values);
    for (u32 i = 0; i < reply->values.count; i++)
        gyre_writable(u32, reply, reply->values)[i]++;
    return GYRE_REPLY;
}
