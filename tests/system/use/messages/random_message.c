/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a layout and rolls dice. No state of its own. */
#include "core/types/message.h"
#include "random_message.h"

#include <string.h>

typedef struct writer {
    uint64_t *state;
    unsigned char *message;
    uint64_t size;
} writer;

static void write_value(const writer *out, const gyre_layout *layout, unsigned char *target);

uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

/* Mostly few, now and then as many as fit; half of all optional fields. */
static uint64_t roll_count(const writer *out, const gyre_layout *layout)
{
    uint32_t used;
    uint64_t roll = random_next(out->state);
    memcpy(&used, out->message, sizeof used);
    uint64_t room = (out->size - used) / layout->element->size;
    if (layout->shape == GYRE_SHAPE_OPTIONAL)
        return roll & 1;
    if (roll % 16 == 0)
        return (roll >> 8) % (room + 1);
    return (roll >> 8) % (room < 6 ? room + 1 : 6);
}

/* Characters of one to four bytes; what is left over is ASCII. */
static void write_text(const writer *out, unsigned char *target, uint32_t count)
{
    static const char *const letters[] = {"a", "\xc3\xbc", "\xe6\x97\xa5", "\xf0\x9f\x94\x94"};
    while (count > 0) {
        const char *letter = letters[random_next(out->state) >> 62];
        size_t length = strlen(letter);
        if (length > count)
            length = strlen(letter = "z");
        memcpy(target, letter, length);
        target += length;
        count -= (uint32_t)length;
    }
}

static void write_part(const writer *out, const gyre_layout *layout, unsigned char *target)
{
    gyre_part part = {0, 0};
    uint64_t size = layout->element->size;
    if (!gyre_part_take(out->message, out->size, size, roll_count(out, layout), &part))
        part = (gyre_part){0, 0};
    memcpy(target, &part, sizeof part);
    if (layout->shape == GYRE_SHAPE_UTF8)
        write_text(out, out->message + part.offset, part.count);
    else
        for (uint32_t i = 0; i < part.count; i++)
            write_value(out, layout->element, out->message + part.offset + i * size);
}

static void write_value(const writer *out, const gyre_layout *layout, unsigned char *target)
{
    uint64_t bits = random_next(out->state);
    if (layout->element) {
        write_part(out, layout, target);
    } else if (layout->scalar != GYRE_SCALAR_NO) {
        memcpy(target, &bits, layout->size);
    } else {
        for (uint32_t i = 0; i < layout->field_count; i++)
            for (uint64_t k = 0; k < layout->fields[i].count; k++)
                write_value(out, layout->fields[i].type,
                            target + layout->fields[i].offset + k * layout->fields[i].type->size);
    }
}

uint64_t random_message(const gyre_layout *layout, uint64_t *state, void *message)
{
    const writer out = {state, message, layout->size};
    gyre_layout_clear_message(layout, message);
    write_value(&out, layout, message);
    return gyre_layout_length(layout, message);
}
