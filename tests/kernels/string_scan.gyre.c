/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers into messages, bytes of text. */
#include <gyre/kernel.h>

#include "string_scan.h"

GYRE_HELPER int matches(const GYRE_GLOBAL u8 *at, const GYRE_GLOBAL u8 *word, u32 length)
{
    while (length > 0 && *at == *word) {
        at++;
        word++;
        length--;
    }
    return length == 0;
}

GYRE_KERNEL(string_scan, scan_request, scan_reply)
{
    const u32 length = request->text_length, word_length = request->word_length;
    if (!gyre_assert(gyre, length <= 96 && word_length > 0 && word_length <= 12))
        return GYRE_FAILED;
    i32 first = -1;
    u32 count = 0, lines = 0, longest = 0, current = 0;
    for (u32 i = 0; i + word_length <= length; i++) {
        if (!matches(request->text + i, request->word, word_length))
            continue;
        first = first < 0 ? (i32)i : first;
        count++;
    }
    for (u32 i = 0; i < 96; i++) {
        const u8 c = i < length ? request->text[i] : 0;
        reply->upper[i] = c >= 'a' && c <= 'z' ? (u8)(c - 32) : c;
        lines += c == '\n';
        current = c == 0 || c == '\n' || c == ' ' ? 0 : current + 1;
        longest = current > longest ? current : longest;
    }
    reply->first = first;
    reply->count = count;
    reply->lines = lines;
    reply->longest = longest;
    return GYRE_REPLY;
}
