/* SPDX-License-Identifier: Apache-2.0 */
/* Writes status names, lists of names and typo hints (text.h). Pure functions. */
#include "core/base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "gyre/gyre.h" /* what it declares is visible to applications */

enum { LONGEST = 63 };

const char *gyre_status_word(gyre_status status)
{
    static const char *const words[] = {"ok",          "invalid",       "not found",    "configuration",
                                        "unavailable", "unimplemented", "incompatible", "exhausted",
                                        "again",       "timeout",       "closed",       "failed",
                                        "lost",        "dropped",       "internal"};
    size_t index = (size_t)status;
    return index < sizeof words / sizeof words[0] ? words[index] : "unknown";
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t differ(char a, char b)
{
    return tolower((unsigned char)a) != tolower((unsigned char)b);
}

/* Edit distance with adjacent transpositions, ignoring case. Both lengths are at most LONGEST. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *now = rows[i % 3];
        const size_t *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            now[j] = smaller(smaller(before[j], now[j - 1]) + 1, before[j - 1] + differ(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smaller(now[j], earlier[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *gyre_text_nearest(const char *typed, const char *const *candidates, size_t count)
{
    size_t typed_length = strlen(typed);
    const char *best = NULL;
    size_t best_distance = 0;
    if (typed_length > LONGEST)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(candidates[i]);
        if (length > LONGEST)
            continue;
        size_t distance = edit_distance(typed, typed_length, candidates[i], length);
        size_t allowed = length > 3 ? (length + 1) / 3 : 1;
        const bool alike = distance < (length > typed_length ? length : typed_length);
        if (alike && distance <= allowed && (!best || distance < best_distance)) {
            best = candidates[i];
            best_distance = distance;
        }
    }
    return best;
}

const char *gyre_text_hint(const char *typed, const char *const *candidates, size_t count,
                           char hint[GYRE_TEXT_HINT_SIZE])
{
    const char *nearest = gyre_text_nearest(typed, candidates, count);
    hint[0] = '\0';
    if (nearest && strcmp(nearest, typed) != 0) /* no hint names the typed word itself */
        snprintf(hint, GYRE_TEXT_HINT_SIZE, "; did you mean '%s'?", nearest);
    return hint;
}

const char *gyre_text_list(const char *const *names, size_t count, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", names[i]);
    return text;
}

size_t gyre_text_character(const unsigned char *text, size_t left)
{
    if (left == 0)
        return 0;
    size_t length = text[0] < 0x80   ? 1
                    : text[0] < 0xc2 ? 0
                    : text[0] < 0xe0 ? 2
                    : text[0] < 0xf0 ? 3
                    : text[0] < 0xf5 ? 4
                                     : 0;
    if (length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

bool gyre_text_is_plain(const char *text)
{
    const size_t length = strlen(text);
    for (size_t at = 0; at < length;) {
        const unsigned char *letter = (const unsigned char *)text + at;
        const size_t whole = gyre_text_character(letter, length - at);
        const bool is_control = *letter < ' ' || *letter == 0x7f || (*letter == 0xc2 && letter[1] < 0xa0);
        if (!whole || is_control)
            return false;
        at += whole;
    }
    return true;
}

/* The number of a letter of 1 to 4 bytes. */
static uint32_t letter_number(const unsigned char *letter, size_t bytes)
{
    uint32_t number = bytes == 1 ? *letter : *letter & (0x7fU >> bytes);
    for (size_t i = 1; i < bytes; i++)
        number = number << 6 | (letter[i] & 0x3f);
    return number;
}

/* Whether a letter shows nothing, or changes how its neighbours are shown: controls, ends of lines, and marks that turn the direction
 * of writing, join, or carry data. A name with such a letter could pass for another one. */
static bool is_hidden(uint32_t letter)
{
    static const struct {
        uint32_t first, last;
    } hidden[] = {{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},      {0x61c, 0x61c},
                  {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f},
                  {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};
    if (letter >= 0x20 && letter < 0x7f)
        return false;
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (letter >= hidden[i].first && letter <= hidden[i].last)
            return true;
    return false;
}

void gyre_text_clean(char *text)
{
    const size_t length = strlen(text);
    for (size_t at = 0; at < length;) {
        const unsigned char *letter = (const unsigned char *)text + at;
        const size_t whole = gyre_text_character(letter, length - at);
        if (!whole || is_hidden(letter_number(letter, whole)))
            memset(text + at, '?', whole ? whole : 1);
        at += whole ? whole : 1;
    }
}

void gyre_text_end_whole(char *text)
{
    enum { BYTES_MOST = 4, CONTINUES = 0x80, KIND = 0xc0 };
    const size_t length = strlen(text);
    size_t begin = length;
    while (begin > 0 && length - begin < BYTES_MOST) {
        begin--;
        if (((unsigned char)text[begin] & KIND) != CONTINUES)
            break;
    }
    const unsigned char *last = (const unsigned char *)text + begin;
    if (begin < length && *last >= KIND && !gyre_text_character(last, length - begin))
        text[begin] = '\0';
}
