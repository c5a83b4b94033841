/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes values of an earlier type over into its later version (adopt.h), field by field, by the fields' names. No field may
 * get lost: the later type has each earlier field again, of the same scalar, and an array is at least as long in each
 * dimension. No state.
 */
#include "core/types/adopt.h"
#include "core/types/types.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/types/compare.h"
#include "core/types/convert.h"
#include "core/types/message.h"

enum { ADOPT_PATH_SIZE = 256 };

/* ---- whether it can be done ---- */

static bool same_text(const gyre_layout *from, const gyre_layout *to)
{
    return from->hash == to->hash && strcmp(from->text, to->text) == 0;
}

/* Whether the layout is a scalar or a struct without tail, choices or spans, so that each field has a fixed place. */
static bool is_plain(const gyre_layout *layout)
{
    return !layout->has_parts && !layout->element && layout->tail == 0 && layout->choice_count == 0;
}

static gyre_status lacks_field(const char *path, const gyre_field *was)
{
    char type[120];
    return gyre_error_set(GYRE_INCOMPATIBLE, "the field '%s%s' of type %s is gone", path, was->name,
                          gyre_field_type_text(was, type, sizeof type));
}

static gyre_status refuse_field(const char *path, const gyre_field *was, const gyre_field *is)
{
    char before[120], now[120];
    return gyre_error_set(GYRE_INCOMPATIBLE, "the field '%s%s' of type %s is of type %s now", path, was->name,
                          gyre_field_type_text(was, before, sizeof before),
                          gyre_field_type_text(is, now, sizeof now));
}

static bool is_as_long(const gyre_field *was, const gyre_field *is)
{
    bool enough = was->dimension_count == is->dimension_count;
    for (uint32_t d = 0; enough && d < was->dimension_count; d++)
        enough = is->dimensions[d] >= was->dimensions[d];
    return enough;
}

static gyre_status check_plain(const char *path, const gyre_layout *from, const gyre_layout *to);

static gyre_status check_field(const char *path, const gyre_field *was, const gyre_layout *to)
{
    const gyre_field *is = gyre_layout_field(to, was->name);
    char inside[ADOPT_PATH_SIZE];
    if (!is)
        return lacks_field(path, was);
    if (!is_as_long(was, is) || was->type->scalar != is->type->scalar || was->type->shape != is->type->shape)
        return refuse_field(path, was, is);
    if (same_text(was->type, is->type))
        return GYRE_OK;
    if (was->type->scalar != GYRE_SCALAR_NO || !is_plain(was->type) || !is_plain(is->type))
        return refuse_field(path, was, is);
    snprintf(inside, sizeof inside, "%s%s.", path, was->name);
    return check_plain(inside, was->type, is->type);
}

static gyre_status check_plain(const char *path, const gyre_layout *from, const gyre_layout *to)
{
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; status == GYRE_OK && i < from->field_count; i++)
        status = check_field(path, &from->fields[i], to);
    return status;
}

/* Checks two types with tails: the fields of `from` stand first in `to`, unchanged, and new fields stand behind them. */
static gyre_status check_tail(const gyre_layout *from, const gyre_layout *to)
{
    if (to->tail < from->tail)
        return gyre_error_set(GYRE_INCOMPATIBLE, "its tail of %" PRIu64 " bytes is one of %" PRIu64 " now",
                              from->tail, to->tail);
    for (uint32_t i = 0; i < from->field_count; i++) {
        const gyre_field *was = &from->fields[i], *is = i < to->field_count ? &to->fields[i] : NULL;
        if (!is || strcmp(was->name, is->name) != 0)
            return lacks_field("", was);
        if (was->count != is->count || !is_as_long(was, is) || !same_text(was->type, is->type))
            return refuse_field("", was, is);
    }
    return GYRE_OK;
}

static gyre_status check_choices(const gyre_layout *from, const gyre_layout *to)
{
    for (uint32_t i = 0; i < from->choice_count; i++) {
        const gyre_layout *was = from->choices[i], *is = i < to->choice_count ? to->choices[i] : NULL;
        if (!is || strcmp(was->name, is->name) != 0)
            return gyre_error_set(GYRE_INCOMPATIBLE, "number %" PRIu32 " of its types was '%s' and is %s%s%s",
                                  i + 1, was->name, is ? "'" : "none", is ? is->name : "", is ? "'" : "");
        gyre_status status = gyre_layout_check_adopt(was, is);
        if (status != GYRE_OK)
            return gyre_error_add(status, "'%s'", was->name);
    }
    return GYRE_OK;
}

gyre_status gyre_layout_check_adopt(const gyre_layout *from, const gyre_layout *to)
{
    if (same_text(from, to))
        return GYRE_OK;
    if (from->shape == GYRE_SHAPE_CHOICE && to->shape == GYRE_SHAPE_CHOICE)
        return check_choices(from, to);
    if (from->shape != GYRE_SHAPE_PLAIN || to->shape != GYRE_SHAPE_PLAIN || from->scalar != to->scalar)
        return gyre_error_set(GYRE_INCOMPATIBLE, "'%s' and '%s' are types of different kinds", from->name,
                              to->name);
    if (from->tail > 0 && to->tail > 0)
        return check_tail(from, to);
    if (!is_plain(from) || !is_plain(to))
        return gyre_error_set(GYRE_INCOMPATIBLE, "one of '%s' and '%s' has a tail, and the other has none",
                              from->name, to->name);
    return check_plain("", from, to);
}

/* ---- doing it ---- */

static void overlay_plain(const gyre_layout *from, const unsigned char *value, const gyre_layout *to,
                          unsigned char *out);

/* Copies one dimension of an array field, element by element. `step` and `step_out` are the bytes of the whole dimension in
 * the earlier and in the later type. */
static void overlay_dimension(const gyre_field *was, const unsigned char *value, uint64_t step,
                              const gyre_field *is, unsigned char *out, uint64_t step_out, uint32_t dimension)
{
    if (dimension == was->dimension_count) {
        overlay_plain(was->type, value, is->type, out);
        return;
    }
    step /= was->dimensions[dimension];
    step_out /= is->dimensions[dimension];
    if (step == step_out && same_text(was->type, is->type)) {
        memcpy(out, value, step * was->dimensions[dimension]);
        return;
    }
    for (uint64_t i = 0; i < was->dimensions[dimension]; i++)
        overlay_dimension(was, value + i * step, step, is, out + i * step_out, step_out, dimension + 1);
}

static void overlay_plain(const gyre_layout *from, const unsigned char *value, const gyre_layout *to,
                          unsigned char *out)
{
    if (same_text(from, to)) {
        memcpy(out, value, from->size);
        return;
    }
    for (uint32_t i = 0; i < from->field_count; i++) {
        const gyre_field *was = &from->fields[i], *is = gyre_layout_field(to, was->name);
        if (is)
            overlay_dimension(was, value + was->offset, was->count * was->type->size, is, out + is->offset,
                              is->count * is->type->size, 0);
    }
}

static gyre_status adopt_choice(const gyre_layout *from, const unsigned char *message, uint64_t length,
                                const gyre_layout *to, unsigned char *out, uint64_t *out_length)
{
    uint32_t number, used;
    uint64_t inner = 0;
    memcpy(&number, message + sizeof used, sizeof number);
    gyre_status status =
        gyre_layout_adopt(from->choices[number - 1], message + GYRE_CHOICE_FRONT, length - GYRE_CHOICE_FRONT,
                          to->choices[number - 1], out + GYRE_CHOICE_FRONT, &inner);
    used = (uint32_t)inner + GYRE_CHOICE_FRONT;
    memcpy(out, &used, sizeof used);
    memcpy(out + sizeof used, &number, sizeof number);
    *out_length = used;
    return status;
}

gyre_status gyre_layout_adopt(const gyre_layout *from, const void *value, uint64_t length,
                              const gyre_layout *to, void *out, uint64_t *out_length)
{
    gyre_status status = gyre_layout_check_message(from, value, length);
    if (status != GYRE_OK)
        return status;
    *out_length = length;
    if (same_text(from, to)) {
        memcpy(out, value, length);
        return GYRE_OK;
    }
    if (from->shape == GYRE_SHAPE_CHOICE)
        return adopt_choice(from, value, length, to, out, out_length);
    if (from->tail > 0) {
        status = gyre_layout_convert(from, value, to, out);
        *out_length = status == GYRE_OK ? gyre_layout_length(to, out) : 0;
        return status;
    }
    overlay_plain(from, value, to, out);
    *out_length = to->size;
    return GYRE_OK;
}
