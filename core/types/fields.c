/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells programs the fields of a type (gyre/fields.h). A gyre_fields is a layout, under a name that programs know; it is
 * constant once made. No state, no lock.
 */
#include "gyre/fields.h"

#include <string.h>

#include "core/base/error.h"
#include "core/base/info_give.h"
#include "core/types/types.h"

_Static_assert((int)GYRE_KIND_I8 == (int)GYRE_SCALAR_I8 && (int)GYRE_KIND_F64 == (int)GYRE_SCALAR_F64 &&
                   (int)GYRE_KIND_NONE == (int)GYRE_SCALAR_NOTHING,
               "a scalar's kind is its number");
_Static_assert((int)GYRE_FIELD_DIMENSIONS_MAX == (int)GYRE_DIMENSIONS_MAX, "all dimensions have a place");

static const gyre_layout *layout_of(const gyre_fields *fields)
{
    return (const gyre_layout *)(const void *)fields;
}

static gyre_type_kind kind_of(const gyre_layout *layout)
{
    switch (layout->shape) {
    case GYRE_SHAPE_ID128:
        return GYRE_KIND_ID128;
    case GYRE_SHAPE_SPAN:
        return GYRE_KIND_SPAN;
    case GYRE_SHAPE_UTF8:
        return GYRE_KIND_UTF8;
    case GYRE_SHAPE_OPTIONAL:
        return GYRE_KIND_OPTIONAL;
    case GYRE_SHAPE_CHOICE:
        return GYRE_KIND_CHOICE;
    case GYRE_SHAPE_PACKET:
        return GYRE_KIND_PACKET;
    case GYRE_SHAPE_PLAIN:
        break;
    }
    return (gyre_type_kind)layout->scalar;
}

gyre_status gyre_fields_read(const gyre_type *type, gyre_fields **out)
{
    gyre_layout *layout = NULL;
    if (!type || !type->name || !type->fields || !out)
        return gyre_error_set(GYRE_INVALID, "gyre_fields_read needs a type and a place for its fields");
    *out = NULL;
    gyre_status status = gyre_layout_create(type, GYRE_STATE_MAX, &layout);
    if (status == GYRE_OK)
        *out = (gyre_fields *)(void *)layout;
    return status;
}

void gyre_fields_release(gyre_fields *fields)
{
    gyre_layout_destroy((gyre_layout *)(void *)fields);
}

gyre_status gyre_fields_info_get(const gyre_fields *fields, gyre_fields_info *info)
{
    if (!fields || !info || info->size < sizeof info->size)
        return GYRE_ARGUMENTS("gyre_fields_info_get", {"fields", fields}, GYRE_SIZED(info));
    const gyre_layout *layout = layout_of(fields);
    const gyre_fields_info told = {.name = layout->name,
                                   .kind = kind_of(layout),
                                   .fields = layout->field_count,
                                   .choices = layout->choice_count,
                                   .bytes = layout->size,
                                   .alignment = layout->alignment,
                                   .tail = layout->tail,
                                   .least = layout->least,
                                   .items = layout->element ? layout->element->type : NULL};
    gyre_info_give(info, &told, sizeof told);
    return GYRE_OK;
}

size_t gyre_fields_count(const gyre_fields *fields)
{
    return fields ? layout_of(fields)->field_count : 0;
}

gyre_status gyre_field_get(const gyre_fields *fields, size_t number, gyre_field_info *info)
{
    if (!fields || !info || info->size < sizeof info->size)
        return GYRE_ARGUMENTS("gyre_field_get", {"fields", fields}, GYRE_SIZED(info));
    const gyre_layout *layout = layout_of(fields);
    if (number >= layout->field_count)
        return gyre_error_set(GYRE_INVALID,
                              "the type '%s' has %u fields, counted from 0; there is no field %zu",
                              layout->name, layout->field_count, number);
    const gyre_field *field = &layout->fields[number];
    gyre_field_info told = {.name = field->name,
                            .type = field->type->type,
                            .kind = kind_of(field->type),
                            .dimension_count = field->dimension_count,
                            .offset = field->offset,
                            .bytes = field->type->size,
                            .count = field->count};
    memcpy(told.dimensions, field->dimensions, sizeof told.dimensions);
    gyre_info_give(info, &told, sizeof told);
    return GYRE_OK;
}

const gyre_type *gyre_fields_choice(const gyre_fields *fields, uint32_t number)
{
    if (fields && number >= 1 && number <= layout_of(fields)->choice_count)
        return layout_of(fields)->choices[number - 1]->type;
    gyre_error_set(GYRE_INVALID, "the type '%s' has %u choices, counted from 1; there is no choice %u",
                   fields ? layout_of(fields)->name : "NULL", fields ? layout_of(fields)->choice_count : 0,
                   number);
    return NULL;
}
