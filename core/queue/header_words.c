/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the words of the setting `header` (header_words.h). No state.
 */
#include "core/queue/header_words.h"

#include <stddef.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"

enum { QUARTER = 16, WORD_MAX = 16 };
#define SEPARATORS " \t,"

struct field {
    const char *name;
    uint32_t offset, size;
};

#define FIELD(member)                                                                                        \
    {                                                                                                        \
#member, offsetof(gyre_header, member), sizeof(((gyre_header *)0)->member)                           \
    }

/* The fields of a gyre_header, in the order of the struct. */
static const struct field fields[] = {
    FIELD(type),
    FIELD(priority),
    FIELD(id),
    FIELD(correlation),
    {"deadline", offsetof(gyre_header, deadline_ns), sizeof(gyre_u64)},
    {"sent", offsetof(gyre_header, sent_ns), sizeof(gyre_u64)},
    FIELD(sender),
    FIELD(receiver),
    FIELD(trace),
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

/* Words that need no header, only a kernel that tells when its handler began and ended. */
static const char *const time_words[] = {"started", "finished"};

uint32_t gyre_header_needed(const char *field)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (strcmp(fields[i].name, field) == 0)
            return (fields[i].offset + fields[i].size + QUARTER - 1) / QUARTER * QUARTER;
    return 0;
}

const char *gyre_header_misfit(const gyre_header *header, uint32_t size)
{
    static const unsigned char nothing[QUARTER];
    const unsigned char *bytes = (const unsigned char *)header;
    for (size_t i = 0; i < FIELDS; i++)
        if (fields[i].offset >= size && memcmp(bytes + fields[i].offset, nothing, fields[i].size) != 0)
            return fields[i].name;
    return NULL;
}

static gyre_status wrong_word(const char *word)
{
    const char *names[FIELDS];
    for (size_t i = 0; i < FIELDS; i++)
        names[i] = fields[i].name;
    const char *nearest = gyre_text_nearest(word, names, FIELDS);
    return gyre_error_set(
        GYRE_CONFIG,
        "header: '%s' is no field of a header%s%s%s; expected none, 16, 32, 48, 64, or some "
        "of type priority id correlation deadline sent sender receiver trace started finished",
        word, nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
}

static bool is_time(const char *word)
{
    return strcmp(word, time_words[0]) == 0 || strcmp(word, time_words[1]) == 0;
}

/* The size that a word names; 0: the word is no size. */
static uint32_t size_of(const char *word)
{
    static const char *const sizes[] = {"16", "32", "48", "64"};
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (strcmp(word, sizes[i]) == 0)
            return (i + 1) * QUARTER;
    return 0;
}

static gyre_status take_word(const char *word, struct gyre_header_plan *plan)
{
    const uint32_t needed = gyre_header_needed(word), size = size_of(word);
    const uint32_t wanted = needed ? needed : size;
    if (is_time(word))
        plan->times = true;
    else if (wanted == 0)
        return wrong_word(word);
    if (plan->size < wanted)
        plan->size = wanted;
    if (plan->size == 0) /* times alone */
        plan->size = QUARTER;
    return GYRE_OK;
}

gyre_status gyre_header_plan_read(const char *text, struct gyre_header_plan *plan)
{
    gyre_status status = GYRE_OK;
    *plan = (struct gyre_header_plan){0};
    if (strcmp(text, "none") == 0)
        return GYRE_OK;
    text += strspn(text, SEPARATORS);
    while (status == GYRE_OK && *text) {
        char word[WORD_MAX + 1] = "";
        const size_t length = strcspn(text, SEPARATORS);
        strncat(word, text, length < WORD_MAX ? length : WORD_MAX);
        status = take_word(word, plan);
        text += length;
        text += strspn(text, SEPARATORS);
    }
    if (status != GYRE_OK)
        *plan = (struct gyre_header_plan){0};
    return status;
}
