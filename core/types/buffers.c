/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a kernel's buffer declaration, "in f32 weights;inout f32 ranks;". One arena holds the list and the
 * layouts of its element types.
 */
#include "core/types/buffers.h"
#include "core/types/builder.h"
#include "core/types/expression.h"

#include <string.h>

#include "core/base/error.h"
#include "gyre/dialect/device_module.h"

enum { BUFFERS_MAX = GYRE_BINDINGS_MAX }; /* every backend can bind this many */

static gyre_status slot_error(gyre_span text, const char *what)
{
    return gyre_error_set(GYRE_INVALID, "buffer declaration '%.*s': %s", (int)(text.end - text.at), text.at,
                          what);
}

static gyre_status slot_parse(gyre_layout_builder *builder, gyre_span text, const gyre_type *type,
                              gyre_buffer_slot *slot)
{
    gyre_span rest = text;
    gyre_span access = gyre_span_word(&rest), type_word = gyre_span_word(&rest), name = gyre_span_word(&rest);
    gyre_span_skip_spaces(&rest);
    slot->writable = gyre_span_is(access, "inout");
    if ((!slot->writable && !gyre_span_is(access, "in")) || name.at == name.end || rest.at != rest.end)
        return slot_error(text, "expected 'in TYPE NAME' or 'inout TYPE NAME'");
    if (!type || !type->name || !gyre_span_is(type_word, type->name))
        return slot_error(text, "its element type is unknown");
    gyre_layout *layout = NULL;
    gyre_status status = gyre_layout_build(builder, type, 0, &layout);
    if (status != GYRE_OK)
        return status;
    if (layout->size == 0)
        return slot_error(text, "gyre_none cannot be an element");
    slot->type = layout;
    slot->name = gyre_arena_text(builder->arena, name.at, (size_t)(name.end - name.at));
    return slot->name ? GYRE_OK : gyre_types_out_of_memory();
}

static bool named_before(const gyre_buffer_slot *slots, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(slots[i].name, slots[index].name) == 0)
            return true;
    return false;
}

static uint32_t count_slots(const char *text)
{
    uint32_t count = 0;
    for (; *text && count <= BUFFERS_MAX; text++)
        count += *text == ';';
    return count;
}

gyre_status gyre_buffer_list_init(gyre_buffer_list *list, const char *text, const gyre_type *const *types)
{
    gyre_layout_builder builder = {.arena = gyre_arena_create(), .size_max = GYRE_STATE_MAX};
    *list = (gyre_buffer_list){.arena = builder.arena};
    if (!builder.arena)
        return gyre_types_out_of_memory();
    if (!text || !types)
        return gyre_error_set(GYRE_INVALID, "a kernel has no buffer declaration or no list of its types");
    uint32_t count = count_slots(text);
    if (count > BUFFERS_MAX)
        return gyre_error_set(GYRE_INVALID,
                              "a kernel declares more than %d device buffers, which is the most; put "
                              "arrays together in one, or in a message that is its element",
                              BUFFERS_MAX);
    gyre_buffer_slot *slots = gyre_arena_alloc(builder.arena, (count + 1) * sizeof *slots);
    if (!slots)
        return gyre_types_out_of_memory();
    for (uint32_t i = 0; i < count; i++) {
        const char *end = strchr(text, ';');
        gyre_span span = {text, end};
        gyre_span_skip_spaces(&span);
        gyre_status status = slot_parse(&builder, span, types[i], &slots[i]);
        if (status == GYRE_OK && named_before(slots, i))
            status = slot_error(span, "a buffer of this name was declared before");
        if (status != GYRE_OK)
            return status;
        text = end + 1;
    }
    if (*text)
        return gyre_error_set(GYRE_INVALID, "buffer declaration '%.80s': expected ';' at its end", text);
    list->slots = slots;
    list->count = count;
    return GYRE_OK;
}

void gyre_buffer_list_finish(gyre_buffer_list *list)
{
    gyre_arena_destroy(list->arena);
    *list = (gyre_buffer_list){0};
}
