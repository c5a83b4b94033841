/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the canonical text of a finished layout, the hash of that text, and the layout's own copy of its gyre_type.
 * compare.c compares two layouts by these hashes and texts. No state.
 */
#include "core/types/describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Prints the choices (types of a protocol) with their names, because senders name a message's type. */
static void print_choices(FILE *out, const gyre_layout *layout)
{
    fputs(layout->shape == GYRE_SHAPE_CHOICE ? "choice(" : "wire(", out);
    for (uint32_t i = 0; i < layout->choice_count; i++)
        fprintf(out, "%s:%s;", layout->choices[i]->name, layout->choices[i]->text);
    fprintf(out, ")%" PRIu64 "/%" PRIu64, layout->size, layout->alignment);
}

static void print_text(FILE *out, const gyre_layout *layout)
{
    if (layout->scalar != GYRE_SCALAR_NO) {
        fputs(layout->name, out);
        return;
    }
    if (layout->element) {
        static const char *const words[] = {
            [GYRE_SHAPE_SPAN] = "span", [GYRE_SHAPE_UTF8] = "utf8", [GYRE_SHAPE_OPTIONAL] = "optional"};
        fprintf(out, "%s(%s)", words[layout->shape], layout->element->text);
        return;
    }
    if (layout->shape == GYRE_SHAPE_ID128) {
        fputs("id128", out);
        return;
    }
    if (layout->choice_count > 0) {
        print_choices(out, layout);
        return;
    }
    fputc('{', out);
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const gyre_field *field = &layout->fields[i];
        fputs(field->type->text, out);
        fprintf(out, " %s", field->name);
        for (uint32_t d = 0; d < field->dimension_count; d++)
            fprintf(out, "[%" PRIu64 "]", field->dimensions[d]);
        fprintf(out, "@%" PRIu64 ";", field->offset);
    }
    if (layout->tail > 0)
        fprintf(out, "tail[%" PRIu64 "]@%" PRIu64 ";", layout->tail, layout->least);
    fprintf(out, "}%" PRIu64 "/%" PRIu64, layout->size, layout->alignment);
}

gyre_status gyre_layout_describe(gyre_arena *arena, gyre_layout *layout)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return gyre_types_out_of_memory();
    print_text(out, layout);
    bool written = !ferror(out);
    if (fclose(out) == 0 && written) {
        layout->text = gyre_arena_text(arena, text, length);
        layout->hash = XXH3_64bits(text, length);
    }
    free(text);
    return layout->text ? GYRE_OK : gyre_types_out_of_memory();
}

/* Counts the fields in the text of a layout. A part's element and the choices of a protocol count as fields, too. */
static uint32_t count_field_types(const gyre_layout *layout)
{
    if (layout->scalar != GYRE_SCALAR_NO)
        return 0;
    if (layout->element)
        return 3;
    if (layout->choice_count > 0)
        return layout->choice_count + (layout->shape == GYRE_SHAPE_CHOICE ? 2 : 1);
    return layout->field_count + (layout->tail ? 2 : 0);
}

gyre_status gyre_layout_copy_type(gyre_arena *arena, const gyre_type *source, gyre_layout *layout)
{
    const uint32_t count = count_field_types(layout);
    gyre_type *copy = gyre_arena_alloc(arena, sizeof *copy);
    const gyre_type **field_types = gyre_arena_alloc(arena, (count + 1) * sizeof *field_types);
    char *fields = gyre_arena_text(arena, source->fields, strlen(source->fields));
    if (!copy || !field_types || !fields)
        return gyre_types_out_of_memory();
    const gyre_field *first = layout->tail && layout->choice_count == 0 ? layout->fields - 1 : layout->fields;
    const uint32_t choices_from = count - layout->choice_count;
    for (uint32_t i = 0; i < count; i++)
        field_types[i] = layout->element && i == 2 ? layout->element->type
                         : i >= choices_from       ? layout->choices[i - choices_from]->type
                                                   : first[i].type->type;
    *copy = (gyre_type){layout->name, fields, layout->size, layout->alignment, count ? field_types : NULL};
    layout->type = copy;
    return GYRE_OK;
}
