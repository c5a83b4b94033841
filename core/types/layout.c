/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds layouts from the text of GYRE_MESSAGE: fields, offsets by C's natural alignment, canonical text and
 * hash. Everything goes into the builder's arena, so a failure leaves nothing to undo. Must not trust a text,
 * a size or the shape of the type graph: all of it may come from a plugin.
 */
#include "core/types/builder.h"
#include "core/types/describe.h"
#include "core/types/expression.h"
#include "core/types/parts.h"
#include "core/types/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"

enum { TEXT_MAX = 1 << 20, STRUCT_FIELDS_MAX = 4096 };

/* A type met while building; `done` is false while its own fields are being built. */
typedef struct gyre_layout_node {
    struct gyre_layout_node *next;
    const gyre_type *source;
    gyre_layout *layout;
    uint32_t expanded_count; /* fields, including the fields of nested types */
    bool done;
} layout_node;

static const struct scalar_row {
    const char *name;
    gyre_scalar scalar;
    uint64_t size;
} SCALARS[] = {
    {"i8", GYRE_SCALAR_I8, 1},
    {"i16", GYRE_SCALAR_I16, 2},
    {"i32", GYRE_SCALAR_I32, 4},
    {"i64", GYRE_SCALAR_I64, 8},
    {"u8", GYRE_SCALAR_U8, 1},
    {"u16", GYRE_SCALAR_U16, 2},
    {"u32", GYRE_SCALAR_U32, 4},
    {"u64", GYRE_SCALAR_U64, 8},
    {"f32", GYRE_SCALAR_F32, 4},
    {"f64", GYRE_SCALAR_F64, 8},
    {"gyre_none", GYRE_SCALAR_NOTHING, 0},
    {GYRE_TAIL_USED, GYRE_SCALAR_U32, 4},
    {GYRE_TAIL_BYTES, GYRE_SCALAR_U64, 8},
};

static const struct scalar_row *scalar_find(const char *name)
{
    for (size_t i = 0; i < sizeof SCALARS / sizeof SCALARS[0]; i++)
        if (strcmp(SCALARS[i].name, name) == 0)
            return &SCALARS[i];
    return NULL;
}

/* ---- one field ---- */

static gyre_status dimension_parse(const gyre_field_place *place, gyre_span text, gyre_field *field)
{
    char problem[200];
    int64_t length = 0;
    int shown = (int)(text.end - text.at) > 60 ? 60 : (int)(text.end - text.at);
    const char *wrong = gyre_expression_evaluate(text, &length);
    if (!wrong && length <= 0)
        wrong = "is not positive";
    if (!wrong && field->dimension_count == GYRE_DIMENSIONS_MAX)
        return gyre_field_error(place, "more than 8 dimensions");
    if (!wrong && (uint64_t)length > GYRE_STATE_MAX / field->count)
        wrong = "makes the type too large";
    if (wrong) {
        snprintf(problem, sizeof problem, "array length '%.*s' %s", shown, text.at, wrong);
        return gyre_field_error(place, problem);
    }
    field->dimensions[field->dimension_count++] = (uint64_t)length;
    field->count *= (uint64_t)length;
    return GYRE_OK;
}

/* Reads the dimensions behind a field's name: "[25][2]". */
static gyre_status dimensions_parse(const gyre_field_place *place, gyre_span rest, gyre_field *field)
{
    field->count = 1;
    for (;;) {
        gyre_span_skip_spaces(&rest);
        if (rest.at == rest.end)
            return GYRE_OK;
        if (*rest.at != '[')
            return gyre_field_error(place, "expected an array length in brackets or the end of the field");
        const char *close = memchr(rest.at, ']', (size_t)(rest.end - rest.at));
        if (!close)
            return gyre_field_error(place, "a bracket is not closed");
        gyre_status status = dimension_parse(place, (gyre_span){rest.at + 1, close}, field);
        if (status != GYRE_OK)
            return status;
        rest.at = close + 1;
    }
}

/* Builds the layout of `type`, which is a field's type inside the type that `place` names. */
static gyre_status inner_build(gyre_layout_builder *builder, const gyre_field_place *place,
                               const gyre_type *type, unsigned depth, gyre_layout **out)
{
    gyre_status status = gyre_layout_build(builder, type, depth + 1, out);
    return status == GYRE_OK ? GYRE_OK : gyre_error_add(status, "in message type '%s'", place->type_name);
}

/* Reads a field such as "f32 a[25]": its name, its dimensions and, through the builder, its type. */
static gyre_status field_parse(gyre_layout_builder *builder, const gyre_field_place *place,
                               const gyre_type *type, unsigned depth, gyre_field *field)
{
    gyre_span rest = place->text;
    gyre_span type_word = gyre_span_word(&rest), name_word = gyre_span_word(&rest);
    if (type_word.at == type_word.end || name_word.at == name_word.end)
        return gyre_field_error(place, "expected 'type name' or 'type name[length]'");
    if (!type || !type->name || !gyre_span_is(type_word, type->name))
        return gyre_field_error(place,
                                "its type is unknown; use i8..u64, f32, f64 or a message declared before");
    gyre_status status = dimensions_parse(place, rest, field);
    if (status != GYRE_OK)
        return status;
    gyre_layout *layout = NULL;
    status = inner_build(builder, place, type, depth, &layout);
    if (status != GYRE_OK)
        return status;
    if (layout->size == 0)
        return gyre_field_error(place, "gyre_none cannot be a field");
    if (layout->tail > 0)
        return gyre_field_error(place,
                                "a message with a tail cannot be a field: declare it with GYRE_MESSAGE, and "
                                "its parts lie in the outer message's tail");
    field->type = layout;
    field->name = gyre_arena_text(builder->arena, name_word.at, (size_t)(name_word.end - name_word.at));
    return field->name ? GYRE_OK : gyre_types_out_of_memory();
}

/* Sets the error for a tail that is too large. The sentence does not name the tail's field, because the author of the type
 * did not write that field. */
static gyre_status tail_too_large(const gyre_field_place *place, uint64_t size_max, const gyre_layout *layout,
                                  const gyre_field *field)
{
    return gyre_error_set(GYRE_INVALID,
                          "message type '%s': its fields of %" PRIu64 " bytes and its tail of %" PRIu64
                          " are more than %" PRIu64 ", the most that a message has: give GYRE_MESSAGE_TAIL a "
                          "smaller number, and put what is larger into a buffer (gyre_put_buffer)",
                          place->type_name, layout->size, field->count * field->type->size, size_max);
}

/* Gives a parsed field its offset, behind the fields before it. */
static gyre_status place_field(const gyre_field_place *place, uint64_t size_max, gyre_layout *layout,
                               gyre_field *field)
{
    uint64_t alignment = field->type->alignment;
    field->offset = (layout->size + alignment - 1) / alignment * alignment;
    if (field->offset > size_max || field->count > (size_max - field->offset) / field->type->size) {
        char problem[120];
        if (strcmp(field->name, "gyre_tail") == 0)
            return tail_too_large(place, size_max, layout, field);
        snprintf(problem, sizeof problem,
                 "the type is too large: it ends beyond %" PRIu64 " bytes, the most that is allowed",
                 size_max);
        return gyre_field_error(place, problem);
    }
    for (uint32_t i = 0; i + 1 < place->number; i++)
        if (strcmp(layout->fields[i].name, field->name) == 0)
            return gyre_field_error(place, "a field of this name was declared before");
    layout->size = field->offset + field->count * field->type->size;
    layout->alignment = alignment > layout->alignment ? alignment : layout->alignment;
    return GYRE_OK;
}

/* ---- a struct ---- */

static gyre_status count_fields(const gyre_type *type, uint32_t *count)
{
    size_t length = strnlen(type->fields, TEXT_MAX + 1);
    *count = 0;
    for (size_t i = 0; i < length; i++)
        *count += type->fields[i] == ';';
    if (length > TEXT_MAX || *count > STRUCT_FIELDS_MAX)
        return gyre_error_set(GYRE_INVALID, "message type '%s' has too many fields: at most %d", type->name,
                              STRUCT_FIELDS_MAX);
    if (*count == 0 || type->fields[length - 1] != ';')
        return gyre_error_set(GYRE_INVALID,
                              "message type '%s': expected fields that end with ';', found '%.80s'",
                              type->name, type->fields);
    if (!type->field_types)
        return gyre_error_set(GYRE_INVALID, "message type '%s' has fields but no list of their types",
                              type->name);
    return GYRE_OK;
}

static uint32_t expanded_of(const gyre_layout_builder *builder, const gyre_layout *layout)
{
    for (const layout_node *node = builder->nodes; node; node = node->next)
        if (node->layout == layout)
            return node->expanded_count;
    return 1;
}

/* Reads the element of a part (a field with items in the message's tail): "f32 span[]", the last field of its text. */
static gyre_status element_build(gyre_layout_builder *builder, const gyre_field_place *place,
                                 const gyre_type *type, unsigned depth, gyre_layout *layout)
{
    gyre_layout *element = NULL;
    gyre_status status = gyre_element_check(place, type, layout);
    if (status == GYRE_OK)
        status = inner_build(builder, place, type, depth, &element);
    return status == GYRE_OK ? gyre_element_take(place, element, layout) : status;
}

/* Reads "order choice[]": one of the types that a message of a protocol may be. */
static gyre_status choice_build(gyre_layout_builder *builder, const gyre_field_place *place,
                                const gyre_type *type, unsigned depth, gyre_layout *layout)
{
    gyre_layout *choice = NULL;
    gyre_status status = gyre_choice_check(place, type, layout);
    if (status == GYRE_OK)
        status = inner_build(builder, place, type, depth, &choice);
    return status == GYRE_OK ? gyre_choice_take(builder->arena, place, choice, layout) : status;
}

static gyre_status fields_build(gyre_layout_builder *builder, layout_node *node, unsigned depth,
                                gyre_field *fields)
{
    gyre_layout *layout = node->layout;
    const gyre_type *type = node->source;
    const char *at = type->fields;
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0, count = layout->field_count; status == GYRE_OK && i < count; i++) {
        const char *end = strchr(at, ';');
        gyre_field_place place = {type->name, i + 1, {at, end}};
        gyre_span_skip_spaces(&place.text);
        at = end + 1;
        if (gyre_text_is_choice(place.text, &layout->shape)) {
            status = choice_build(builder, &place, type->field_types[i], depth, layout);
            continue;
        }
        if (gyre_text_is_element(place.text, &layout->shape)) {
            status = element_build(builder, &place, type->field_types[i], depth, layout);
            if (status == GYRE_OK && i + 1 < count)
                status = gyre_field_error(&place, "nothing may follow it");
            continue;
        }
        status = layout->choice_count > 0
                     ? gyre_field_error(&place, "nothing may follow choices")
                     : field_parse(builder, &place, type->field_types[i], depth, &fields[i]);
        if (status == GYRE_OK)
            status = place_field(&place, builder->size_max, layout, &fields[i]);
        if (status != GYRE_OK)
            break;
        layout->has_parts |= fields[i].type->has_parts;
        node->expanded_count += expanded_of(builder, fields[i].type);
        if (node->expanded_count > GYRE_TYPE_FIELDS_MAX)
            status =
                gyre_field_error(&place, "the type has too many fields, those of nested messages included");
    }
    return status;
}

static gyre_status struct_build(gyre_layout_builder *builder, layout_node *node, unsigned depth)
{
    gyre_layout *layout = node->layout;
    gyre_status status = count_fields(node->source, &layout->field_count);
    if (status != GYRE_OK)
        return status;
    gyre_field *fields = gyre_arena_alloc(builder->arena, layout->field_count * sizeof *fields);
    if (!fields)
        return gyre_types_out_of_memory();
    layout->fields = fields;
    layout->alignment = 1;
    status = fields_build(builder, node, depth, fields);
    if (status != GYRE_OK)
        return status;
    layout->size = (layout->size + layout->alignment - 1) / layout->alignment * layout->alignment;
    layout->least = layout->size;
    if (layout->choice_count > 0)
        status = gyre_choices_end(builder->size_max, node->source, layout);
    else if (!layout->element)
        status = gyre_tail_take(layout);
    if (status == GYRE_OK && !strcmp(layout->name, "id128") && layout->size == 16 &&
        layout->field_count == 1 && fields[0].type->scalar == GYRE_SCALAR_U8)
        layout->shape = GYRE_SHAPE_ID128;
    return status;
}

/* ---- any type ---- */

static gyre_status scalar_build(const gyre_type *type, gyre_layout *layout)
{
    const struct scalar_row *row = scalar_find(type->name);
    if (!row)
        return gyre_error_set(GYRE_INVALID, "message type '%s' has no fields and is no scalar", type->name);
    layout->scalar = row->scalar;
    layout->size = row->size;
    layout->alignment = row->size ? row->size : 1;
    layout->least = row->size;
    return GYRE_OK;
}

static gyre_status check_compiler(const gyre_type *type, const gyre_layout *layout)
{
    if (type->size == layout->size && type->alignment == layout->alignment)
        return GYRE_OK;
    return gyre_error_set(GYRE_INCOMPATIBLE,
                          "message type '%s': its fields make %" PRIu64 " bytes aligned to %" PRIu64
                          ", the compiler made %" PRIu64 " aligned to %" PRIu64
                          "; compile without packing or alignment options",
                          type->name, layout->size, layout->alignment, (uint64_t)type->size,
                          (uint64_t)type->alignment);
}

static gyre_status node_create(gyre_layout_builder *builder, const gyre_type *type, layout_node **out)
{
    layout_node *node = gyre_arena_alloc(builder->arena, sizeof *node);
    gyre_layout *layout = gyre_arena_alloc(builder->arena, sizeof *layout);
    char *name = gyre_arena_text(builder->arena, type->name, strlen(type->name));
    if (!node || !layout || !name)
        return gyre_types_out_of_memory();
    layout->name = name;
    *node = (layout_node){builder->nodes, type, layout, 1, false};
    builder->nodes = node;
    *out = node;
    return GYRE_OK;
}

/*
 * Looks up a type that was met before. *out: its layout; stays as it is when the type is new. INVALID when the type contains
 * itself.
 */
static gyre_status find_built(const gyre_layout_builder *builder, const gyre_type *type, gyre_layout **out)
{
    for (const layout_node *node = builder->nodes; node; node = node->next) {
        if (node->source != type)
            continue;
        if (!node->done)
            return gyre_error_set(GYRE_INVALID, "message type '%s' contains itself", type->name);
        *out = node->layout;
        return GYRE_OK;
    }
    return GYRE_OK;
}

gyre_status gyre_layout_build(gyre_layout_builder *builder, const gyre_type *type, unsigned depth,
                              gyre_layout **out)
{
    *out = NULL;
    if (!type || !type->name || !type->fields || !*type->name)
        return gyre_error_set(GYRE_INVALID, "a message type has no name or no field text");
    if (depth > GYRE_TYPE_DEPTH_MAX)
        return gyre_error_set(GYRE_INVALID, "message type '%s' is nested more than %d deep", type->name,
                              GYRE_TYPE_DEPTH_MAX);
    gyre_status status = find_built(builder, type, out);
    if (status != GYRE_OK || *out)
        return status;
    layout_node *node = NULL;
    status = node_create(builder, type, &node);
    if (status == GYRE_OK)
        status = *type->fields ? struct_build(builder, node, depth) : scalar_build(type, node->layout);
    if (status == GYRE_OK)
        status = check_compiler(type, node->layout);
    if (status == GYRE_OK)
        status = gyre_layout_describe(builder->arena, node->layout);
    if (status == GYRE_OK)
        status = gyre_layout_copy_type(builder->arena, type, node->layout);
    if (status != GYRE_OK)
        return status;
    node->done = true;
    *out = node->layout;
    return GYRE_OK;
}

gyre_status gyre_layout_create(const gyre_type *type, uint64_t size_max, gyre_layout **out)
{
    gyre_layout_builder builder = {.arena = gyre_arena_create(), .size_max = size_max};
    *out = NULL;
    if (!builder.arena)
        return gyre_types_out_of_memory();
    gyre_layout *layout = NULL;
    gyre_status status = gyre_layout_build(&builder, type, 0, &layout);
    if (status != GYRE_OK) {
        gyre_arena_destroy(builder.arena);
        return status;
    }
    layout->arena = builder.arena;
    *out = layout;
    return GYRE_OK;
}

gyre_status gyre_layout_create_message(const gyre_type *type, uint64_t size_max, gyre_layout **out)
{
    gyre_status status = gyre_layout_create(type, size_max, out);
    if (status != GYRE_OK || !(*out)->has_parts || (*out)->tail > 0)
        return status;
    status = gyre_error_set(GYRE_INVALID,
                            "message type '%s' has variable parts and no tail for them: declare it with "
                            "GYRE_MESSAGE_TAIL(%s, ..., BYTES)",
                            type->name, type->name);
    gyre_layout_destroy(*out);
    *out = NULL;
    return status;
}

void gyre_layout_destroy(gyre_layout *layout)
{
    if (layout)
        gyre_arena_destroy(layout->arena);
}

const gyre_field *gyre_layout_field(const gyre_layout *layout, const char *name)
{
    for (uint32_t i = 0; i < layout->field_count; i++)
        if (strcmp(layout->fields[i].name, name) == 0)
            return &layout->fields[i];
    return NULL;
}

uint32_t gyre_layout_choice(const gyre_layout *layout, const char *name)
{
    for (uint32_t i = 0; i < layout->choice_count; i++)
        if (!strcmp(layout->choices[i]->name, name))
            return i + 1;
    return 0;
}
