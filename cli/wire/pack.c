/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up what a description of wire forms says of a type, and checks that the description fits the type. No state. */
#include "cli/wire/pack.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"

static const gyre_pack_record *record_find(const gyre_pack *wire, const gyre_layout *layout)
{
    for (size_t i = 0; i < wire->record_count; i++)
        if (!strcmp(wire->records[i].type, layout->name))
            return &wire->records[i];
    return NULL;
}

gyre_pack_options gyre_pack_options_of(const gyre_pack *wire, const gyre_layout *layout)
{
    const gyre_pack_record *record = record_find(wire, layout);
    return record ? record->options : wire->defaults;
}

const gyre_field *gyre_pack_field(const gyre_pack *wire, const gyre_layout *layout, uint32_t place)
{
    const gyre_pack_record *record = record_find(wire, layout);
    return record && record->fields ? gyre_layout_field(layout, record->fields[place])
                                    : &layout->fields[place];
}

bool gyre_pack_is_record(const gyre_layout *layout)
{
    return layout->scalar == GYRE_SCALAR_NO && !layout->element && layout->shape != GYRE_SHAPE_ID128;
}

uint64_t gyre_pack_fixed_size(const gyre_pack *wire, const gyre_layout *layout)
{
    gyre_pack_form form = gyre_pack_options_of(wire, layout).form;
    uint64_t size = 0;
    if (layout->element)
        return 0;
    if (!gyre_pack_is_record(layout) || form == GYRE_PACK_STRUCT)
        return layout->size;
    if (form == GYRE_PACK_OBJECT)
        return 0;
    for (uint32_t i = 0; i < layout->field_count; i++) {
        uint64_t each = gyre_pack_fixed_size(wire, layout->fields[i].type);
        if (each == 0)
            return 0;
        size += each * layout->fields[i].count;
    }
    return size;
}

uint64_t gyre_pack_alignment(const gyre_layout *layout)
{
    return layout->shape == GYRE_SHAPE_ID128 ? GYRE_PACK_DOTNET_GUID_ALIGNMENT : layout->alignment;
}

bool gyre_pack_has_flag(const gyre_pack *wire, const gyre_layout *element)
{
    return !element->element &&
           !(gyre_pack_is_record(element) && gyre_pack_options_of(wire, element).form == GYRE_PACK_OBJECT);
}

size_t gyre_pack_guid_place(gyre_pack_guid guid, size_t i)
{
    static const unsigned char dotnet[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    return guid == GYRE_PACK_GUID_DOTNET ? dotnet[i] : i;
}

/* ---- checking ---- */

static gyre_status check_order(const gyre_pack_record *record, const gyre_layout *layout)
{
    if (!record || !record->fields)
        return GYRE_OK;
    for (size_t i = 0; i < record->field_count; i++) {
        if (!gyre_layout_field(layout, record->fields[i]))
            return gyre_error_set(GYRE_INVALID, "wire description: type '%s' has no field '%s'", layout->name,
                                  record->fields[i]);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(record->fields[i], record->fields[k]))
                return gyre_error_set(GYRE_INVALID, "wire description: type '%s' names field '%s' twice",
                                      layout->name, record->fields[i]);
    }
    if (record->field_count != layout->field_count)
        return gyre_error_set(GYRE_INVALID,
                              "wire description: type '%s' has %" PRIu32 " fields, found an order of %zu",
                              layout->name, layout->field_count, record->field_count);
    return GYRE_OK;
}

static gyre_status check_record(const gyre_pack *wire, const gyre_layout *layout)
{
    gyre_pack_form form = gyre_pack_options_of(wire, layout).form;
    if (form == GYRE_PACK_STRUCT && (layout->has_parts || layout->tail))
        return gyre_error_set(
            GYRE_INVALID,
            "wire description: type '%s' has variable parts, so its form cannot be 'struct': "
            "expected 'object' or 'packed'",
            layout->name);
    if (form == GYRE_PACK_OBJECT && layout->field_count > GYRE_PACK_MEMBERS_MAX)
        return gyre_error_set(GYRE_INVALID,
                              "wire description: type '%s' has %" PRIu32 " fields, and an object at most %d",
                              layout->name, layout->field_count, GYRE_PACK_MEMBERS_MAX);
    return check_order(record_find(wire, layout), layout);
}

static gyre_status check_optional(const gyre_pack *wire, const gyre_layout *layout)
{
    const gyre_layout *element = layout->element;
    if (element->element && element->shape != GYRE_SHAPE_UTF8)
        return gyre_error_set(GYRE_INVALID,
                              "wire description: '%s' is an optional part of a part, which has no form",
                              layout->name);
    if (gyre_pack_has_flag(wire, element) && gyre_pack_fixed_size(wire, element) == 0)
        return gyre_error_set(
            GYRE_INVALID,
            "wire description: '%s' is optional and 'packed', but its size changes: expected 'object'",
            element->name);
    return GYRE_OK;
}

gyre_status gyre_pack_check(const gyre_pack *wire, const gyre_layout *layout)
{
    gyre_status status = GYRE_OK;
    if (layout->element) {
        status = layout->shape == GYRE_SHAPE_OPTIONAL ? check_optional(wire, layout) : GYRE_OK;
        return status == GYRE_OK ? gyre_pack_check(wire, layout->element) : status;
    }
    if (!gyre_pack_is_record(layout))
        return GYRE_OK;
    status = check_record(wire, layout);
    for (uint32_t i = 0; status == GYRE_OK && i < layout->field_count; i++)
        status = gyre_pack_check(wire, layout->fields[i].type);
    return status;
}
