/* SPDX-License-Identifier: Apache-2.0 */
/* Strings in, strings out: shouts what was said at whoever said it; level 9 walks off the end of its text. */
#include <gyre/kernel.h>
#include "parts_chat.h"

GYRE_HELPER u32 hash_of(const GYRE_GLOBAL u8 *bytes, u32 count)
{
    u32 hash = 2166136261u;
    for (u32 i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

GYRE_KERNEL(parts_chat, chat_line, chat_answer)
{
    const GYRE_GLOBAL u8 *text = gyre_items(u8, request, request->text);
    reply->id = request->id;
    reply->text = gyre_new(gyre, u8, reply, request->text.count);
    for (u32 i = 0; i < reply->text.count; i++) {
        const u8 letter = text[i];
        gyre_set(gyre, u8, reply, reply->text, i, letter >= 'a' && letter <= 'z' ? letter - 32 : letter);
        reply->words += letter != ' ' && (i == 0 || text[i - 1] == ' ');
    }
    if (request->level == 9)
        reply->words = gyre_get(gyre, u8, request, request->text, request->text.count);
    reply->to = gyre_new(gyre, utf8, reply, request->author.count > 0 ? 2 : 0);
    if (reply->to.count == 2) {
        gyre_set(gyre, utf8, reply, reply->to, 0, gyre_new_text(gyre, reply, "@"));
        gyre_set(gyre, utf8, reply, reply->to, 1, gyre_copy(gyre, u8, reply, request, request->author));
    }
    if (gyre_has(request->room)) {
        const utf8 room = gyre_get(gyre, utf8, request, request->room, 0);
        reply->room_hash = gyre_new(gyre, u32, reply, 1);
        gyre_set(gyre, u32, reply, reply->room_hash, 0, hash_of(gyre_items(u8, request, room), room.count));
    }
    return GYRE_REPLY;
}
