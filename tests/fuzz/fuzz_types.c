/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the reader of message declarations: field lists and buffer lists as a plugin or a compiled file may
 * hold them. A layout that is accepted has to keep its own promises, or the process aborts.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/types/buffers.h"
#include "core/types/compare.h"
#include "core/types/types.h"

#define POINT(FIELD) FIELD(f32, x) FIELD(f64, y)
GYRE_MESSAGE(point, POINT)

enum { FIELDS_MAX = 64, TEXT_MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* The type whose name stands at `text`; one that does not fit when there is none. */
static const gyre_type *type_at(const char *text)
{
    static const gyre_type *const known[] = {GYRE_TYPE(i8),  GYRE_TYPE(u16), GYRE_TYPE(i32),  GYRE_TYPE(u64),
                                             GYRE_TYPE(f32), GYRE_TYPE(f64), GYRE_TYPE(point)};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strncmp(text, known[i]->name, strlen(known[i]->name)) == 0)
            return known[i];
    return GYRE_TYPE(u8);
}

/* Types for the fields of a list, by the word that starts each after `skip` letters. */
static void find_types(const char *text, size_t skip, const gyre_type **types)
{
    size_t count = 0;
    while (count < FIELDS_MAX && strlen(text) > skip) {
        types[count++] = type_at(text + skip);
        text = strchr(text, ';');
        if (!text)
            break;
        text++;
    }
    types[count] = NULL;
}

static void check_layout(const gyre_layout *layout)
{
    uint64_t end = 0;
    check(layout->size <= GYRE_MESSAGE_MAX && layout->size % layout->alignment == 0);
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const gyre_field *field = &layout->fields[i];
        check(field->offset >= end && field->offset % field->type->alignment == 0 && field->count > 0);
        end = field->offset + field->count * field->type->size;
        check(gyre_layout_field(layout, field->name) == field);
    }
    check(end <= layout->size);
    gyre_layout *again = NULL;
    check(gyre_layout_create(layout->type, GYRE_MESSAGE_MAX, &again) == GYRE_OK);
    check(gyre_layout_compare(layout, "one", again, "the other") == GYRE_OK);
    gyre_layout_destroy(again);
}

/* The sizes of a made-up type are not known before its layout is:
 * ask for the refusal, and take them from it. */
static void try_fields(const char *text, const gyre_type *const *types)
{
    gyre_layout *layout = NULL;
    for (uint64_t alignment = 1; !layout && alignment <= 8; alignment *= 2) {
        gyre_type type = {"made", text, 0, alignment, types};
        gyre_status status = gyre_layout_create(&type, GYRE_MESSAGE_MAX, &layout);
        const char *found = strstr(gyre_error_text(), "make ");
        if (status == GYRE_INCOMPATIBLE && found) {
            type.size = strtoull(found + 5, NULL, 10);
            status = gyre_layout_create(&type, GYRE_MESSAGE_MAX, &layout);
        }
        check(status == GYRE_OK || *gyre_error_text());
    }
    if (layout)
        check_layout(layout);
    gyre_layout_destroy(layout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX + 1];
    const gyre_type *types[FIELDS_MAX + 1];
    size_t length = size < TEXT_MAX ? size : TEXT_MAX;
    memcpy(text, data, length);
    text[length] = '\0';
    find_types(text, 0, types);
    try_fields(text, types);
    find_types(text, strlen("in "), types);
    gyre_buffer_list list;
    check(gyre_buffer_list_init(&list, text, types) == GYRE_OK || *gyre_error_text());
    gyre_buffer_list_finish(&list);
    return 0;
}
