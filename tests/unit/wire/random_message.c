/* SPDX-License-Identifier: Apache-2.0 */
/* Parts get what still fits: a tail that is full gives empty parts. */
#include "random_message.h"

#include <string.h>

enum { ITEMS_MAX = 9 };

typedef struct fill_state {
    random_source *source;
    unsigned char *message;
    uint64_t message_size;
} fill_state;

static void fill_value(fill_state *filler, const gyre_layout *layout, unsigned char *value);

uint64_t random_below(random_source *source, uint64_t limit)
{
    source->state ^= source->state << 13;
    source->state ^= source->state >> 7;
    source->state ^= source->state << 17;
    return source->state % limit;
}

static void fill_bytes(random_source *source, unsigned char *bytes, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)random_below(source, 256);
    bytes[size - 1] |= 1;
}

/* Letters of one to four bytes, as many as `count` has room for. */
static void fill_text(random_source *source, unsigned char *text, uint64_t count)
{
    static const char *const letters[] = {"a", "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x99\x82"};
    for (uint64_t at = 0; at < count;) {
        const char *letter = letters[random_below(source, 4)];
        uint64_t length = strlen(letter);
        if (length <= count - at) {
            memcpy(text + at, letter, length);
            at += length;
        }
    }
}

static void fill_part(fill_state *filler, const gyre_layout *layout, unsigned char *value)
{
    const gyre_layout *element = layout->element;
    uint64_t most = layout->shape == GYRE_SHAPE_OPTIONAL ? 2 : ITEMS_MAX;
    gyre_part part = {0, 0};
    if (!gyre_part_take(filler->message, filler->message_size, element->size,
                        random_below(filler->source, most), &part))
        return;
    memcpy(value, &part, sizeof part);
    unsigned char *items = filler->message + part.offset;
    if (layout->shape == GYRE_SHAPE_UTF8)
        fill_text(filler->source, items, part.count);
    else
        for (uint32_t i = 0; i < part.count; i++)
            fill_value(filler, element, items + i * element->size);
}

static void fill_value(fill_state *filler, const gyre_layout *layout, unsigned char *value)
{
    if (layout->element) {
        fill_part(filler, layout, value);
    } else if (layout->scalar != GYRE_SCALAR_NO || layout->shape == GYRE_SHAPE_ID128) {
        fill_bytes(filler->source, value, layout->size);
    } else {
        for (uint32_t i = 0; i < layout->field_count; i++)
            for (uint64_t k = 0; k < layout->fields[i].count; k++)
                fill_value(filler, layout->fields[i].type,
                           value + layout->fields[i].offset + k * layout->fields[i].type->size);
    }
}

void random_message(random_source *source, const gyre_layout *layout, void *message)
{
    fill_state filler = {source, message, layout->size};
    gyre_layout_clear_message(layout, message);
    fill_value(&filler, layout, message);
}
