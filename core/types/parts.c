/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the texts of types that are more than a list of fields: parts and tails, messages of one of several types, packets
 * (parts.h). layout.c calls these functions and owns the arena that everything goes into. Must not trust a text or a size.
 */
#include "core/types/parts.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"

/* ---- parts and tails ---- */

/* Reads the word behind a part's element type ("span", "optional" ...), and tells the shape of the part. */
static bool shape_of(gyre_span word, gyre_shape *shape)
{
    static const struct {
        const char *word;
        gyre_shape shape;
    } rows[] = {{"span", GYRE_SHAPE_SPAN}, {"utf8", GYRE_SHAPE_UTF8}, {"optional", GYRE_SHAPE_OPTIONAL}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (gyre_span_is(word, rows[i].word)) {
            *shape = rows[i].shape;
            return true;
        }
    return false;
}

bool gyre_text_is_element(gyre_span text, gyre_shape *shape)
{
    gyre_span_word(&text);
    gyre_span word = gyre_span_word(&text);
    return text.end - text.at == 2 && memcmp(text.at, "[]", 2) == 0 && shape_of(word, shape);
}

gyre_status gyre_element_check(const gyre_field_place *place, const gyre_type *type,
                               const gyre_layout *layout)
{
    gyre_span rest = place->text, word = gyre_span_word(&rest);
    const gyre_field *fields = layout->fields;
    bool is_part = place->number == 3 && layout->field_count == 3 && layout->size == 8 &&
                   !strcmp(fields[0].name, "offset") && fields[0].type->scalar == GYRE_SCALAR_U32 &&
                   !strcmp(fields[1].name, "count") && fields[1].type->scalar == GYRE_SCALAR_U32;
    if (!is_part || !type || !type->name || !gyre_span_is(word, type->name))
        return gyre_field_error(place,
                                "expected a part as GYRE_SPAN declares it: offset, count and its element");
    return GYRE_OK;
}

gyre_status gyre_element_take(const gyre_field_place *place, const gyre_layout *element, gyre_layout *layout)
{
    if (element->size == 0 || element->tail > 0)
        return gyre_field_error(place, "items are scalars, parts, and messages that GYRE_MESSAGE declares");
    layout->element = element;
    layout->field_count = 2;
    layout->has_parts = true;
    return GYRE_OK;
}

gyre_status gyre_tail_take(gyre_layout *layout)
{
    uint32_t count = layout->field_count;
    const gyre_field *last = &layout->fields[count - 1];
    bool first_is = !strcmp(layout->fields[0].type->name, GYRE_TAIL_USED),
         last_is = !strcmp(last->type->name, GYRE_TAIL_BYTES);
    for (uint32_t i = 1; i + 1 < count; i++)
        if (!strcmp(layout->fields[i].type->name, GYRE_TAIL_USED) ||
            !strcmp(layout->fields[i].type->name, GYRE_TAIL_BYTES))
            first_is = !last_is; /* a tail's fields in wrong places: refused below */
    if (first_is != last_is || (last_is && (layout->fields[0].count != 1 || last->dimension_count != 1)))
        return gyre_error_set(
            GYRE_INVALID, "message type '%s': '%s' and '%s' are not for fields; GYRE_MESSAGE_TAIL adds them",
            layout->name, GYRE_TAIL_USED, GYRE_TAIL_BYTES);
    if (!last_is)
        return GYRE_OK;
    layout->least = last->offset;
    layout->tail = last->count * last->type->size;
    layout->fields++;
    layout->field_count -= 2;
    return GYRE_OK;
}

/* ---- messages that may be one of several, and packets ---- */

bool gyre_text_is_choice(gyre_span text, gyre_shape *shape)
{
    gyre_span_word(&text);
    gyre_span word = gyre_span_word(&text);
    const bool is_choice =
        gyre_span_is(word, "choice") && text.end - text.at == 2 && memcmp(text.at, "[]", 2) == 0;
    if (!is_choice && (!gyre_span_is(word, "gyre_wire") || text.at == text.end || *text.at != '['))
        return false;
    *shape = is_choice ? GYRE_SHAPE_CHOICE : GYRE_SHAPE_PACKET;
    return true;
}

/* Reads the room of a packet (encoded bytes of a message), "order gyre_wire[1259]": its most bytes on the wire. */
static gyre_status read_room(const gyre_field_place *place, gyre_span text, gyre_layout *layout)
{
    int64_t room = 0;
    gyre_span_word(&text);
    gyre_span_word(&text);
    const gyre_span inside = {text.at + 1, text.end - 1};
    const char *wrong = text.end - text.at > 2 && *inside.end == ']' ? gyre_expression_evaluate(inside, &room)
                                                                     : "is no length";
    if (wrong || room < 0 || room > GYRE_MESSAGE_MAX)
        return gyre_field_error(place, "expected how many bytes it takes on the wire at most");
    layout->room = (uint64_t)room;
    return GYRE_OK;
}

/* Checks the fields before the first choice: the bytes in use, and, unless the type is a packet, the number of the choice. */
static bool begins_right(const gyre_layout *layout)
{
    const gyre_field *fields = layout->fields;
    uint32_t front = layout->shape == GYRE_SHAPE_CHOICE ? GYRE_CHOICE_FRONT : GYRE_PACKET_FRONT;
    if (layout->size != front || strcmp(fields[0].type->name, GYRE_TAIL_USED) != 0)
        return false;
    return layout->shape == GYRE_SHAPE_PACKET ||
           (!strcmp(fields[1].name, "gyre_choice") && fields[1].type->scalar == GYRE_SCALAR_U32);
}

/* How many fields of the struct stand before its first choice. */
static uint32_t fields_in_front(const gyre_layout *layout)
{
    return layout->shape == GYRE_SHAPE_CHOICE ? 2 : 1;
}

gyre_status gyre_choice_check(const gyre_field_place *place, const gyre_type *type, const gyre_layout *layout)
{
    gyre_span rest = place->text, word = gyre_span_word(&rest);
    const uint32_t front = fields_in_front(layout);
    if (place->number <= front || (front == 1 && place->number != 2) || !begins_right(layout) || !type ||
        !type->name || !gyre_span_is(word, type->name))
        return gyre_field_error(place, "expected the choices as GYRE_PROTOCOL declares them");
    return GYRE_OK;
}

gyre_status gyre_choice_take(gyre_arena *arena, const gyre_field_place *place, const gyre_layout *choice,
                             gyre_layout *layout)
{
    if (choice->choice_count > 0 || choice->element || (choice->has_parts && choice->tail == 0))
        return gyre_field_error(place, "it is no message that can be sent alone");
    if (fields_in_front(layout) == 1) {
        gyre_status status = read_room(place, place->text, layout);
        if (status != GYRE_OK)
            return status;
    }
    if (!layout->choices)
        layout->choices = gyre_arena_alloc(arena, layout->field_count * sizeof(gyre_layout *));
    if (!layout->choices)
        return gyre_types_out_of_memory();
    layout->choices[layout->choice_count++] = choice;
    return GYRE_OK;
}

static gyre_status refuse_size(const gyre_layout *layout, uint64_t size, uint64_t most)
{
    return gyre_error_set(GYRE_INVALID,
                          "message type '%s' has %" PRIu64 " bytes, and at most %" PRIu64 " are allowed",
                          layout->name, size, most);
}

/* Refuses a packet that is too large. The sentence names the author's message type, because the packet's own type has no
 * name that the author knows. */
static gyre_status refuse_packet(const gyre_layout *layout, uint64_t most)
{
    return gyre_error_set(GYRE_INVALID,
                          "the wire form of '%s' takes %" PRIu64 " bytes, %" PRIu64
                          " in a slot with what the kernel keeps beside it, and at most %" PRIu64
                          " are allowed; give the kernel's messages smaller tails",
                          layout->choices[0]->name, layout->room, layout->size, most);
}

gyre_status gyre_choices_end(uint64_t size_max, const gyre_type *source, gyre_layout *layout)
{
    uint64_t size = 8, front = layout->shape == GYRE_SHAPE_CHOICE ? GYRE_CHOICE_FRONT : GYRE_PACKET_FRONT;
    for (uint32_t i = 0; i < layout->choice_count; i++)
        size = layout->choices[i]->size > size ? (layout->choices[i]->size + 7) / 8 * 8 : size;
    layout->size = front + size;
    layout->alignment = 8;
    if (layout->shape == GYRE_SHAPE_PACKET) { /* its text says how many bytes the wire form takes */
        layout->size = source->size;
        layout->alignment = 4;
        if (layout->choice_count > 0 && layout->size > size_max)
            return refuse_packet(layout, size_max);
    }
    if (layout->size > size_max || layout->size <= front || layout->size - front < layout->room ||
        layout->size % 4 != 0)
        return refuse_size(layout, layout->size, size_max);
    layout->field_count = 0;
    layout->least = front;
    layout->tail = layout->size - front;
    return GYRE_OK;
}
