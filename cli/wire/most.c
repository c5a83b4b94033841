/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the most bytes that a message can have on the wire: the bytes of its fields, and for each byte of its tail as many
 * bytes as the item that grows most. The result is an upper bound, and exact for messages whose size never changes. No state.
 */
#include "cli/wire/most.h"
#include "cli/wire/frame.h"
#include "cli/wire/pack.h"

/* SPAN_FRONT: bytes of the count before a span. TEXT_FRONT: bytes of the two lengths before a text. */
enum { SPAN_FRONT = 4, TEXT_FRONT = 8 };

static uint64_t larger_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t inline_size(const gyre_pack *wire, gyre_pack_options options, const gyre_layout *layout);

static uint64_t optional_size(const gyre_pack *wire, gyre_pack_options options, const gyre_layout *element)
{
    if (!gyre_pack_has_flag(wire, element))
        return larger_of(element->element ? SPAN_FRONT : 1, inline_size(wire, options, element));
    uint64_t padding = options.nullable == GYRE_PACK_NULLABLE_PADDED ? gyre_pack_alignment(element) - 1 : 0;
    return (options.nullable != GYRE_PACK_NULLABLE_BARE) + padding + gyre_pack_fixed_size(wire, element);
}

/* The bytes that a value takes where it stands, without the items of its parts. */
static uint64_t inline_size(const gyre_pack *wire, gyre_pack_options options, const gyre_layout *layout)
{
    if (layout->shape == GYRE_SHAPE_OPTIONAL)
        return optional_size(wire, options, layout->element);
    if (layout->element)
        return layout->shape == GYRE_SHAPE_UTF8 ? TEXT_FRONT : SPAN_FRONT;
    if (!gyre_pack_is_record(layout))
        return layout->size;
    const gyre_pack_options own = gyre_pack_options_of(wire, layout);
    if (own.form == GYRE_PACK_STRUCT)
        return layout->size;
    uint64_t size = own.form == GYRE_PACK_OBJECT ? 1 : 0;
    for (uint32_t i = 0; i < layout->field_count; i++)
        size += inline_size(wire, own, layout->fields[i].type) * layout->fields[i].count;
    return size;
}

/* Bytes on the wire of a tail of `tail` bytes, full of the items that grow most on the wire. */
static uint64_t tail_size(const gyre_pack *wire, gyre_pack_options options, const gyre_layout *layout,
                          uint64_t tail)
{
    uint64_t most = 0;
    if (layout->element) {
        const gyre_layout *element = layout->element;
        if (layout->shape == GYRE_SHAPE_UTF8)
            return options.string == GYRE_PACK_UTF16 ? 2 * tail : tail;
        if (layout->shape == GYRE_SHAPE_SPAN)
            most = (tail * inline_size(wire, options, element) + element->size - 1) / element->size;
        return larger_of(most, tail_size(wire, options, element, tail));
    }
    const gyre_pack_options own = gyre_pack_is_record(layout) ? gyre_pack_options_of(wire, layout) : options;
    for (uint32_t i = 0; i < layout->field_count; i++)
        most = larger_of(most, tail_size(wire, own, layout->fields[i].type, tail));
    return most;
}

uint64_t gyre_pack_most(const gyre_pack *wire, const gyre_layout *layout)
{
    const gyre_pack_options options = gyre_pack_options_of(wire, layout);
    const uint64_t most = inline_size(wire, options, layout) + tail_size(wire, options, layout, layout->tail);
    return most < GYRE_FRAME_PAYLOAD_MAX ? most : GYRE_FRAME_PAYLOAD_MAX;
}
