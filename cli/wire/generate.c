/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates C functions that do what encode.c and decode.c do, for one type. A person can read them, and they compile for the
 * host and in every dialect of handlers. Neighbouring fields of fixed size move in one go (generate_run.c). The helper
 * functions that the generated code calls are in include/gyre/wire.h.
 */
#include "cli/wire/generate.h"
#include "cli/wire/generator.h"
#include "cli/wire/most.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

enum { POINTER_SIZE = 512, NAME_SIZE = 256 };

static void emit_value(generator *g, gyre_pack_options options, const gyre_layout *layout,
                       const char *pointer);

/* The name of the generated code's stream: "in" when it reads, "out" when it writes. */
static const char *stream_word(const generator *g)
{
    return g->writes ? "out" : "in";
}

static const char *move_word(const generator *g)
{
    return g->writes ? "put" : "get";
}

static const char *const_word(const generator *g)
{
    return g->writes ? "const " : "";
}

/* ---- names ---- */

/* True when the generated functions have a variable of that name, for example "out" or "part0". */
static bool is_local(const char *name)
{
    static const char *const words[] = {"in", "out", "value", "message", "from", "to", "each", "part"};
    static const char *const counted[] = {"part", "there", "i"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strcmp(name, words[i]))
            return true;
    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++) {
        const size_t length = strlen(counted[i]);
        if (!strncmp(name, counted[i], length) && isdigit((unsigned char)name[length]))
            return true;
    }
    return false;
}

/* The name of a type in the generated functions. A type with the name of one of their variables gets
 * an alias (emit_function). */
static const char *type_name(const gyre_layout *layout, char alias[NAME_SIZE])
{
    if (layout->scalar != GYRE_SCALAR_NO || !is_local(layout->name))
        return layout->name;
    if (layout->element)
        return "gyre_part";
    snprintf(alias, NAME_SIZE, "gyre_wire_type_%s", layout->name);
    return alias;
}

/* ---- parts ---- */

/* Writes into `pointer` the text of a typed pointer to item `index` of the part at the present depth. */
static void item_pointer(const generator *g, const gyre_layout *element, const char *index, char *pointer)
{
    char alias[NAME_SIZE];
    snprintf(pointer, POINTER_SIZE,
             "(%sGYRE_GLOBAL %s *)(%sGYRE_GLOBAL void *)(%s->message + part%d.offset + %s * %" PRIu64 "u)",
             const_word(g), type_name(element, alias), const_word(g), stream_word(g), g->depth, index,
             element->size);
}

static void emit_items(generator *g, gyre_pack_options options, const gyre_layout *element)
{
    char pointer[POINTER_SIZE], index[24];
    if (element->scalar != GYRE_SCALAR_NO) {
        gyre_pack_line(g, "gyre_wire_%s_(%s, %s->message + part%d.offset, part%d.count * %" PRIu64 "u);",
                       move_word(g), stream_word(g), stream_word(g), g->depth, g->depth, element->size);
        return;
    }
    snprintf(index, sizeof index, "i%d", g->depth);
    item_pointer(g, element, index, pointer);
    gyre_pack_line(g, "for (gyre_u32 %s = 0; !%s->problem && %s < part%d.count; %s++) {", index,
                   stream_word(g), index, g->depth, index);
    g->indent++;
    g->depth++;
    emit_value(g, options, element, pointer);
    g->depth--;
    g->indent--;
    gyre_pack_line(g, "}");
}

static void emit_span(generator *g, gyre_pack_options options, const gyre_layout *layout, const char *pointer)
{
    gyre_pack_line(g, "{");
    g->indent++;
    if (g->writes)
        gyre_pack_line(g, "const gyre_part part%d = *(%s);", g->depth, pointer);
    else
        gyre_pack_line(g, "const gyre_part part%d = gyre_wire_get_span_(in, %" PRIu64 "u);", g->depth,
                       layout->element->size);
    if (g->writes)
        gyre_pack_line(g, "gyre_wire_put_count_(out, part%d);", g->depth);
    else
        gyre_pack_line(g, "*(%s) = part%d;", pointer, g->depth);
    emit_items(g, options, layout->element);
    g->indent--;
    gyre_pack_line(g, "}");
}

/* Emits code for the value of an optional that is not null. */
static void emit_item(generator *g, gyre_pack_options options, const gyre_layout *element)
{
    char pointer[POINTER_SIZE];
    item_pointer(g, element, "0", pointer);
    g->depth++;
    emit_value(g, options, element, pointer);
    g->depth--;
}

static void emit_optional_write(generator *g, gyre_pack_options options, const gyre_layout *element,
                                const char *pointer)
{
    bool flagged = gyre_pack_has_flag(g->wire, element);
    gyre_pack_line(g, "const gyre_part part%d = *(%s);", g->depth, pointer);
    if (flagged && options.nullable != GYRE_PACK_NULLABLE_BARE)
        gyre_pack_line(g, "gyre_wire_put_u8_(out, gyre_has(part%d));", g->depth);
    if (flagged && options.nullable == GYRE_PACK_NULLABLE_PADDED)
        gyre_pack_line(g, "gyre_wire_put_zeros_(out, %" PRIu64 ");", gyre_pack_alignment(element) - 1);
    gyre_pack_line(g, "if (gyre_has(part%d)) {", g->depth);
    g->indent++;
    emit_item(g, options, element);
    g->indent--;
    gyre_pack_line(g, "} else {");
    g->indent++;
    if (flagged)
        gyre_pack_line(g, "gyre_wire_put_zeros_(out, %" PRIu64 ");", gyre_pack_fixed_size(g->wire, element));
    else if (element->element)
        gyre_pack_line(g, "gyre_wire_put_i32_(out, -1);");
    else
        gyre_pack_line(g, "gyre_wire_put_u8_(out, %d);", GYRE_PACK_NULL_OBJECT);
    g->indent--;
    gyre_pack_line(g, "}");
}

static void emit_optional_read(generator *g, gyre_pack_options options, const gyre_layout *element,
                               const char *pointer)
{
    if (gyre_pack_has_flag(g->wire, element))
        gyre_pack_line(g, "const int there%d = gyre_wire_get_flag_(in, %s, %" PRIu64 ", %" PRIu64 ");",
                       g->depth, gyre_pack_nullable_text(options.nullable), gyre_pack_alignment(element) - 1,
                       gyre_pack_fixed_size(g->wire, element));
    else
        gyre_pack_line(g, "const int there%d = gyre_wire_get_null_(in, %d);", g->depth,
                       element->element ? 4 : 1);
    gyre_pack_line(g, "const gyre_part part%d = gyre_wire_new_(in, %" PRIu64 "u, there%d ? 1 : 0);", g->depth,
                   element->size, g->depth);
    gyre_pack_line(g, "*(%s) = part%d;", pointer, g->depth);
    gyre_pack_line(g, "if (gyre_has(part%d)) {", g->depth);
    g->indent++;
    emit_item(g, options, element);
    g->indent--;
    gyre_pack_line(g, "}");
}

static void emit_part(generator *g, gyre_pack_options options, const gyre_layout *layout, const char *pointer)
{
    if (layout->shape == GYRE_SHAPE_SPAN) {
        emit_span(g, options, layout, pointer);
    } else if (layout->shape == GYRE_SHAPE_OPTIONAL) {
        gyre_pack_line(g, "{");
        g->indent++;
        if (g->writes)
            emit_optional_write(g, options, layout->element, pointer);
        else
            emit_optional_read(g, options, layout->element, pointer);
        g->indent--;
        gyre_pack_line(g, "}");
    } else if (g->writes) {
        gyre_pack_line(g, "gyre_wire_put_text_(out, *(%s), %d);", pointer, options.string == GYRE_PACK_UTF16);
    } else {
        gyre_pack_line(g, "*(%s) = gyre_wire_get_text_(in);", pointer);
    }
}

/* ---- values and records ---- */

static void emit_value(generator *g, gyre_pack_options options, const gyre_layout *layout,
                       const char *pointer)
{
    if (layout->element)
        emit_part(g, options, layout, pointer);
    else if (layout->scalar != GYRE_SCALAR_NO)
        gyre_pack_line(g, "gyre_wire_%s_(%s, (%sGYRE_GLOBAL gyre_u8 *)(%s), %" PRIu64 ");", move_word(g),
                       stream_word(g), const_word(g), pointer, layout->size);
    else if (layout->shape == GYRE_SHAPE_ID128)
        gyre_pack_line(g, "gyre_wire_%s_id128_(%s, (%sGYRE_GLOBAL gyre_u8 *)(%s), %d);", move_word(g),
                       stream_word(g), const_word(g), pointer, options.guid == GYRE_PACK_GUID_DOTNET);
    else
        gyre_pack_line(g, "gyre_%s_%s(%s, %s);", g->writes ? "write" : "read", layout->name, stream_word(g),
                       pointer);
}

static void emit_field(generator *g, gyre_pack_options options, const gyre_field *field)
{
    char pointer[POINTER_SIZE], alias[NAME_SIZE];
    if (field->dimension_count == 0) {
        snprintf(pointer, sizeof pointer, "&value->%s", field->name);
        emit_value(g, options, field->type, pointer);
        return;
    }
    gyre_pack_line(g, "for (gyre_u32 each = 0; each < %" PRIu64 "u; each++) {", field->count);
    snprintf(pointer, sizeof pointer, "&((%sGYRE_GLOBAL %s *)&value->%s)[each]", const_word(g),
             type_name(field->type, alias), field->name);
    g->indent++;
    emit_value(g, options, field->type, pointer);
    g->indent--;
    gyre_pack_line(g, "}");
}

static void emit_record_body(generator *g, const gyre_layout *layout)
{
    gyre_pack_options options = gyre_pack_options_of(g->wire, layout);
    if (options.form == GYRE_PACK_STRUCT) {
        gyre_pack_line(g, "gyre_wire_%s_(%s, (%sGYRE_GLOBAL gyre_u8 *)value, %" PRIu64 ");", move_word(g),
                       stream_word(g), const_word(g), layout->size);
        return;
    }
    if (options.form == GYRE_PACK_OBJECT)
        gyre_pack_line(g,
                       g->writes ? "gyre_wire_put_u8_(out, %" PRIu32 ");"
                                 : "gyre_wire_get_members_(in, %" PRIu32 ");",
                       layout->field_count);
    for (uint32_t i = 0, next; i < layout->field_count; i = next) {
        next = gyre_pack_emit_run(g, layout, i);
        if (next == i)
            emit_field(g, options, gyre_pack_field(g->wire, layout, next++));
    }
}

static void emit_function(generator *g, const gyre_layout *layout, bool writes)
{
    char alias[NAME_SIZE];
    g->writes = writes;
    if (writes && is_local(layout->name))
        gyre_pack_line(g, "typedef %s %s;\n", layout->name, type_name(layout, alias));
    gyre_pack_line(g, "GYRE_HELPER void gyre_%s_%s(gyre_wire_%s *%s, %sGYRE_GLOBAL %s *value)",
                   writes ? "write" : "read", layout->name, stream_word(g), stream_word(g), const_word(g),
                   type_name(layout, alias));
    gyre_pack_line(g, "{");
    g->indent++;
    emit_record_body(g, layout);
    g->indent--;
    gyre_pack_line(g, "}\n");
}

/* Emits the functions of a record, behind the functions of the records inside it, each record once. */
static void emit_record(generator *g, const gyre_layout *layout, const gyre_layout **done, size_t *done_count)
{
    if (layout->element)
        emit_record(g, layout->element, done, done_count);
    if (!gyre_pack_is_record(layout))
        return;
    for (size_t i = 0; i < *done_count; i++)
        if (!strcmp(done[i]->name, layout->name))
            return;
    for (uint32_t i = 0; i < layout->field_count; i++)
        emit_record(g, layout->fields[i].type, done, done_count);
    emit_function(g, layout, true);
    emit_function(g, layout, false);
    done[(*done_count)++] = layout;
}

static void emit_message(generator *g, const gyre_layout *layout)
{
    char alias[NAME_SIZE];
    const char *name = layout->name, *type = type_name(layout, alias);
    gyre_pack_line(g, "/* Bytes on the wire, at most. */");
    gyre_pack_line(g, "#define GYRE_WIRE_MOST_%s %" PRIu64 "\n", name, gyre_pack_most(g->wire, layout));
    gyre_pack_line(g, "/* Writes `message`; returns the number of bytes, or 0 and out->problem. */");
    gyre_pack_line(g,
                   "GYRE_HELPER gyre_u32 gyre_encode_%s(gyre_wire_out *out, const GYRE_GLOBAL %s *message)\n"
                   "{\n"
                   "    gyre_wire_start_(out, (const GYRE_GLOBAL gyre_u8 *)message);\n"
                   "    gyre_write_%s(out, message);\n"
                   "    return out->problem ? 0 : out->at;\n"
                   "}\n",
                   name, type, name);
    gyre_pack_line(g, "/* Reads `message`; returns 1, or 0 and in->problem at byte in->at. */");
    gyre_pack_line(g,
                   "GYRE_HELPER int gyre_decode_%s(gyre_wire_in *in, GYRE_GLOBAL %s *message)\n"
                   "{\n"
                   "    gyre_wire_begin_(in, (GYRE_GLOBAL gyre_u8 *)message, %" PRIu64 "u, %" PRIu64 "u);\n"
                   "    gyre_read_%s(in, message);\n"
                   "    return gyre_wire_end_(in);\n"
                   "}\n",
                   name, type, layout->size, layout->tail ? layout->least : 0, name);
}

static uint32_t count_records(const gyre_layout *layout)
{
    uint32_t count = 1;
    if (layout->element)
        return count_records(layout->element);
    for (uint32_t i = 0; i < layout->field_count; i++)
        count += count_records(layout->fields[i].type);
    return count;
}

static gyre_status check_all(const gyre_pack *wire, const gyre_layout *const *layouts, size_t count,
                             size_t *record_count)
{
    gyre_status status = GYRE_OK;
    *record_count = 0;
    for (size_t i = 0; status == GYRE_OK && i < count; i++) {
        *record_count += count_records(layouts[i]);
        status = gyre_pack_check(wire, layouts[i]);
    }
    return status;
}

gyre_status gyre_pack_generate(const gyre_pack *wire, const gyre_layout *const *layouts, size_t count,
                               FILE *out)
{
    generator g = {.wire = wire, .out = out};
    size_t done_count = 0, record_count;
    gyre_status status = check_all(wire, layouts, count, &record_count);
    if (status != GYRE_OK)
        return status;
    const gyre_layout **done = calloc(record_count + 1, sizeof(const gyre_layout *));
    if (!done)
        return gyre_error_set(GYRE_EXHAUSTED, "out of memory for the records of a wire description");
    for (size_t i = 0; i < count; i++) {
        emit_record(&g, layouts[i], done, &done_count);
        if (layouts[i]->tail || !layouts[i]->has_parts)
            emit_message(&g, layouts[i]);
    }
    free(done);
    return GYRE_OK;
}
