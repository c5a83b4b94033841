/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates code for a run: neighbouring fields whose size on the wire never changes. The code checks the room once, and then
 * copies at constant offsets, which compilers turn into a few loads and stores. No state.
 */
#include "cli/wire/generator.h"

#include <inttypes.h>

enum { PLACE_SIZE = 300 };

const char *gyre_pack_nullable_text(gyre_pack_nullable nullable)
{
    static const char *const texts[] = {[GYRE_PACK_NULLABLE_PADDED] = "GYRE_WIRE_PADDED_",
                                        [GYRE_PACK_NULLABLE_PACKED] = "GYRE_WIRE_PACKED_",
                                        [GYRE_PACK_NULLABLE_BARE] = "GYRE_WIRE_BARE_"};
    return texts[nullable];
}

/* Bytes of a scalar, an id or a record whose wire form is its C struct; 0 for other types. */
static uint64_t block_size(const gyre_pack *wire, const gyre_layout *layout)
{
    bool is_record = gyre_pack_is_record(layout);
    if (layout->element || (is_record && gyre_pack_options_of(wire, layout).form != GYRE_PACK_STRUCT))
        return 0;
    return layout->size;
}

/* Flag and padding in front of an optional value. */
static uint64_t front_size(gyre_pack_options options, const gyre_layout *element)
{
    uint64_t padding = options.nullable == GYRE_PACK_NULLABLE_PADDED ? gyre_pack_alignment(element) - 1 : 0;
    return (options.nullable != GYRE_PACK_NULLABLE_BARE) + padding;
}

/* Bytes of a field that may stand in a run; 0 for a field that may not. */
static uint64_t field_size(const gyre_pack *wire, gyre_pack_options options, const gyre_field *field)
{
    const gyre_layout *type = field->type;
    if (type->shape != GYRE_SHAPE_OPTIONAL)
        return block_size(wire, type) * field->count;
    uint64_t size = field->dimension_count ? 0 : block_size(wire, type->element);
    return size ? front_size(options, type->element) + size : 0;
}

/* Emits the copy of one block between the message and the run, `at` bytes behind its start ("+ each * 16" may follow). */
static void emit_block(generator *g, gyre_pack_options options, const gyre_layout *layout, uint64_t count,
                       const char *pointer, uint64_t at, const char *more)
{
    char wire[PLACE_SIZE], message[PLACE_SIZE];
    snprintf(wire, sizeof wire, "%s + %" PRIu64 "%s", g->writes ? "to" : "from", at, more);
    snprintf(message, sizeof message, "(%sGYRE_GLOBAL gyre_u8 *)%s", g->writes ? "const " : "", pointer);
    const char *to = g->writes ? wire : message, *from = g->writes ? message : wire;
    if (layout->shape == GYRE_SHAPE_ID128)
        gyre_pack_line(g, "gyre_wire_move_id128_(%s, %s, %d);", to, from,
                       options.guid == GYRE_PACK_GUID_DOTNET);
    else
        gyre_pack_line(g, "GYRE_WIRE_COPY_(%s, %s, %" PRIu64 ");", to, from, layout->size * count);
}

static void emit_plain(generator *g, gyre_pack_options options, const gyre_field *field, uint64_t at)
{
    char pointer[PLACE_SIZE];
    snprintf(pointer, sizeof pointer, "&value->%s", field->name);
    if (field->type->shape != GYRE_SHAPE_ID128 || field->dimension_count == 0) {
        emit_block(g, options, field->type, field->count, pointer, at, "");
        return;
    }
    gyre_pack_line(g, "for (gyre_u32 each = 0; each < %" PRIu64 "; each++)", field->count);
    snprintf(pointer, sizeof pointer, "&value->%s + each * 16", field->name);
    g->indent++;
    emit_block(g, options, field->type, 1, pointer, at, " + each * 16");
    g->indent--;
}

static void emit_optional(generator *g, gyre_pack_options options, const gyre_field *field, uint64_t at)
{
    const gyre_layout *element = field->type->element;
    uint64_t front = front_size(options, element);
    gyre_pack_line(g, "{");
    g->indent++;
    if (g->writes) {
        gyre_pack_line(g, "const gyre_part part = value->%s;", field->name);
        if (front > 0)
            gyre_pack_line(g, "to[%" PRIu64 "] = gyre_has(part);", at);
        if (front > 1)
            gyre_pack_line(g, "GYRE_WIRE_ZERO_(to + %" PRIu64 ", %" PRIu64 ");", at + 1, front - 1);
    } else {
        gyre_pack_line(g,
                       "const gyre_part part = gyre_wire_get_optional_(in, from, %" PRIu64 ", %s, %" PRIu64
                       ", %" PRIu64 ", %" PRIu64 ");",
                       at, gyre_pack_nullable_text(options.nullable), gyre_pack_alignment(element) - 1,
                       element->size, element->size);
        gyre_pack_line(g, "value->%s = part;", field->name);
    }
    gyre_pack_line(g, "if (gyre_has(part))");
    g->indent++;
    emit_block(g, options, element, 1,
               g->writes ? "(out->message + part.offset)" : "(in->message + part.offset)", at + front, "");
    g->indent--;
    if (g->writes) {
        gyre_pack_line(g, "else");
        gyre_pack_line(g, "    GYRE_WIRE_ZERO_(to + %" PRIu64 ", %" PRIu64 ");", at + front, element->size);
    }
    g->indent--;
    gyre_pack_line(g, "}");
}

static void emit_fields(generator *g, const gyre_layout *layout, uint32_t first, uint32_t end)
{
    const gyre_pack_options options = gyre_pack_options_of(g->wire, layout);
    uint64_t at = 0;
    for (uint32_t i = first; i < end; i++) {
        const gyre_field *field = gyre_pack_field(g->wire, layout, i);
        if (field->type->shape == GYRE_SHAPE_OPTIONAL)
            emit_optional(g, options, field, at);
        else
            emit_plain(g, options, field, at);
        at += field_size(g->wire, options, field);
    }
}

uint32_t gyre_pack_emit_run(generator *g, const gyre_layout *layout, uint32_t first)
{
    const gyre_pack_options options = gyre_pack_options_of(g->wire, layout);
    uint32_t end = first;
    uint64_t size = 0, each;
    for (; end < layout->field_count; end++, size += each) {
        each = field_size(g->wire, options, gyre_pack_field(g->wire, layout, end));
        if (each == 0)
            break;
    }
    if (end == first)
        return first;
    gyre_pack_line(g, "if (gyre_wire_%s_(%s, %" PRIu64 ")) {", g->writes ? "fits" : "has",
                   g->writes ? "out" : "in", size);
    g->indent++;
    gyre_pack_line(g, g->writes ? "GYRE_GLOBAL gyre_u8 *to = out->bytes + out->at;"
                                : "const GYRE_GLOBAL gyre_u8 *from = in->bytes + in->at;");
    emit_fields(g, layout, first, end);
    if (g->writes)
        gyre_pack_line(g, "out->at += %" PRIu64 ";", size);
    else
        gyre_pack_line(g, "in->at += in->problem ? 0 : %" PRIu64 ";", size);
    g->indent--;
    gyre_pack_line(g, "}");
    return end;
}
