/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds a message with a tail anew (convert.h). This is needed when one side's type has fields appended, because the tail
 * then begins elsewhere, and when items of the message move to device memory or back. The caller has checked the
 * message. No state.
 */
#include "core/types/convert.h"
#include "core/types/types.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/types/message.h"

typedef struct conversion {
    const unsigned char *from;
    unsigned char *to;
    uint64_t to_size;
    const struct gyre_carrier *carrier;
} conversion;

static bool convert_value(const conversion *run, const gyre_layout *layout, uint64_t from_at, uint64_t to_at);

static bool put_far(const conversion *run, const gyre_far *far, uint32_t count, uint64_t to_at)
{
    gyre_part to;
    if (!gyre_part_take(run->to, run->to_size, sizeof *far, 1, &to))
        return false;
    memcpy(run->to + to.offset, far, sizeof *far);
    to = (gyre_part){to.offset | GYRE_PART_FAR, count};
    memcpy(run->to + to_at, &to, sizeof to);
    return true;
}

/* Converts a far part (a part whose items lie in device memory). The carrier fetches its items when it has them and they
 * fit; else the items stay there, and only the gyre_far that says where they lie is copied. */
static bool convert_far(const conversion *run, const gyre_layout *element, gyre_part from, uint64_t to_at)
{
    gyre_far far;
    gyre_part to;
    memcpy(&far, run->from + (from.offset & ~GYRE_PART_FAR), sizeof far);
    if (run->carrier && run->carrier->fetch && run->carrier->is_ours(run->carrier->context, &far)) {
        if (gyre_part_take(run->to, run->to_size, element->size, from.count, &to) &&
            run->carrier->fetch(run->carrier->context, &far, run->to + to.offset)) {
            memcpy(run->to + to_at, &to, sizeof to);
            return true;
        }
        far = (gyre_far){.handle = {.size = far.handle.size}};
    }
    return put_far(run, &far, from.count, to_at);
}

static bool convert_part(const conversion *run, const gyre_layout *layout, uint64_t from_at, uint64_t to_at)
{
    const gyre_layout *element = layout->element;
    gyre_part from, to;
    gyre_far far;
    memcpy(&from, run->from + from_at, sizeof from);
    if (gyre_is_far(from))
        return convert_far(run, element, from, to_at);
    if (run->carrier && run->carrier->carry && !element->has_parts && layout->shape != GYRE_SHAPE_OPTIONAL &&
        run->carrier->carry(run->carrier->context, run->from + from.offset, from.count * element->size, &far))
        return put_far(run, &far, from.count, to_at);
    if (!gyre_part_take(run->to, run->to_size, element->size, from.count, &to))
        return false;
    memcpy(run->to + to_at, &to, sizeof to);
    if (!element->has_parts)
        memcpy(run->to + to.offset, run->from + from.offset, from.count * element->size);
    for (uint32_t i = 0; element->has_parts && i < from.count; i++)
        if (!convert_value(run, element, from.offset + i * element->size, to.offset + i * element->size))
            return false;
    return true;
}

static bool convert_field(const conversion *run, const gyre_field *field, uint64_t from_at, uint64_t to_at)
{
    const uint64_t size = field->type->size;
    if (!field->type->has_parts)
        memcpy(run->to + to_at, run->from + from_at, size * field->count);
    for (uint64_t i = 0; field->type->has_parts && i < field->count; i++)
        if (!convert_value(run, field->type, from_at + i * size, to_at + i * size))
            return false;
    return true;
}

static bool convert_value(const conversion *run, const gyre_layout *layout, uint64_t from_at, uint64_t to_at)
{
    if (layout->element)
        return convert_part(run, layout, from_at, to_at);
    for (uint32_t i = 0; i < layout->field_count; i++)
        if (!convert_field(run, &layout->fields[i], from_at + layout->fields[i].offset,
                           to_at + layout->fields[i].offset))
            return false;
    return true;
}

gyre_status gyre_layout_carry(const gyre_layout *from, const void *message, const gyre_layout *to, void *out,
                              const struct gyre_carrier *carrier)
{
    const conversion run = {message, out, to->size, carrier};
    const uint32_t known = from->field_count < to->field_count ? from->field_count : to->field_count;
    gyre_layout_clear_message(to, out);
    for (uint32_t i = 0; i < known; i++)
        if (!convert_field(&run, &from->fields[i], from->fields[i].offset, to->fields[i].offset))
            return gyre_error_set(GYRE_INVALID,
                                  "message type '%s', field '%s': it does not fit the tail of %" PRIu64
                                  " bytes that the other side's type has",
                                  from->name, from->fields[i].name, to->tail);
    return GYRE_OK;
}

/* Converts a message of a protocol (one of several types) to the type with the same number on the other side. *length: its
 * bytes there. */
static gyre_status convert_chosen(const gyre_layout *from, const unsigned char *message,
                                  const gyre_layout *to, unsigned char *out, uint64_t *length)
{
    if (to->tail) {
        const gyre_status status = gyre_layout_carry(from, message, to, out, NULL);
        *length = gyre_layout_length(to, out);
        return status;
    }
    const uint64_t known = from->size < to->size ? from->size : to->size;
    memset(out + known, 0, to->size - known);
    memcpy(out, message, known);
    *length = to->size;
    return GYRE_OK;
}

static gyre_status convert_choice(const gyre_layout *from, const unsigned char *message,
                                  const gyre_layout *to, unsigned char *out)
{
    uint32_t used, number;
    uint64_t length = 0;
    memcpy(&number, message + sizeof used, sizeof number);
    if (number == 0 || number > from->choice_count || number > to->choice_count)
        return gyre_error_set(GYRE_INVALID,
                              "a message of '%s' is its type of number %" PRIu32
                              "%s%s%s, and '%s' of the other "
                              "side has %" PRIu32 " types",
                              from->name, number, number - 1 < from->choice_count ? ", '" : "",
                              number - 1 < from->choice_count ? from->choices[number - 1]->name : "",
                              number - 1 < from->choice_count ? "'" : "", to->name, to->choice_count);
    const gyre_status status = convert_chosen(from->choices[number - 1], message + GYRE_CHOICE_FRONT,
                                              to->choices[number - 1], out + GYRE_CHOICE_FRONT, &length);
    used = (uint32_t)length + GYRE_CHOICE_FRONT;
    memcpy(out, &used, sizeof used);
    memcpy(out + sizeof used, &number, sizeof number);
    return status;
}

gyre_status gyre_layout_convert(const gyre_layout *from, const void *message, const gyre_layout *to,
                                void *out)
{
    if (from->shape == GYRE_SHAPE_CHOICE)
        return convert_choice(from, message, to, out);
    return gyre_layout_carry(from, message, to, out, NULL);
}
