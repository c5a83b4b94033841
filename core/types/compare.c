/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two layouts and names the first field that differs (compare.h). Changes no layout; no state.
 */
#include "core/types/compare.h"
#include "core/types/types.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"

enum { PATH_MAX_SIZE = 256, DESCRIPTION_SIZE = 400 };

/* What the walk through two layouts found: the path of the enclosing fields ("p.x."), and what either layout has there. */
typedef struct difference {
    char path[PATH_MAX_SIZE];
    char a[DESCRIPTION_SIZE], b[DESCRIPTION_SIZE];
} difference;

char *gyre_field_type_text(const gyre_field *field, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", field->type->name);
    for (uint32_t d = 0; d < field->dimension_count && used < size; d++)
        used += (size_t)snprintf(text + used, size - used, "[%" PRIu64 "]", field->dimensions[d]);
    return text;
}

/* Describes `field`, or its absence (NULL). `other` is the field of the other layout in this place; one of the two may be
 * NULL, not both. */
static void describe_difference(char *text, const char *path, const gyre_field *field,
                                const gyre_field *other)
{
    char type[120];
    if (field)
        snprintf(text, DESCRIPTION_SIZE, "field '%s%s' of type %s at offset %" PRIu64, path, field->name,
                 gyre_field_type_text(field, type, sizeof type), field->offset);
    else
        snprintf(text, DESCRIPTION_SIZE, "no field '%s%s'", path, other->name);
}

static bool same_place(const gyre_field *a, const gyre_field *b)
{
    return strcmp(a->name, b->name) == 0 && a->offset == b->offset &&
           a->dimension_count == b->dimension_count &&
           memcmp(a->dimensions, b->dimensions, sizeof a->dimensions) == 0 &&
           a->type->scalar == b->type->scalar;
}

static void find_difference(const gyre_layout *a, const gyre_layout *b, difference *found);

static void describe_choice(char *text, const gyre_layout *layout, uint32_t i)
{
    if (i < layout->choice_count)
        snprintf(text, DESCRIPTION_SIZE, "the choice '%s' as number %" PRIu32, layout->choices[i]->name,
                 i + 1);
    else
        snprintf(text, DESCRIPTION_SIZE, "no choice of number %" PRIu32, i + 1);
}

/* Whether the two layouts are the same, or one of them is the other with fields appended. */
static bool layouts_fit(const gyre_layout *a, const gyre_layout *b)
{
    return strcmp(a->text, b->text) == 0 || gyre_layout_extends(a, b) || gyre_layout_extends(b, a);
}

/* The place of the first choice (type of a protocol) that is not the same in both. `grown`: a choice with fields appended
 * counts as the same. */
static uint32_t first_other_choice(const gyre_layout *a, const gyre_layout *b, bool grown)
{
    uint32_t i = 0;
    for (; i < a->choice_count && i < b->choice_count; i++) {
        const gyre_layout *left = a->choices[i], *right = b->choices[i];
        if (strcmp(left->name, right->name) != 0 ||
            (grown ? !layouts_fit(left, right) : strcmp(left->text, right->text) != 0))
            break;
    }
    return i;
}

/* Finds the first difference of two layouts of which at least one is a protocol (a message of one of several types). A
 * choice with fields appended is named only when no choice differs in another way. */
static void find_different_choice(const gyre_layout *a, const gyre_layout *b, difference *found)
{
    uint32_t i = first_other_choice(a, b, true);
    if (i == a->choice_count && i == b->choice_count)
        i = first_other_choice(a, b, false);
    if (i < a->choice_count && i < b->choice_count && strcmp(a->choices[i]->name, b->choices[i]->name) == 0) {
        snprintf(found->path, sizeof found->path, "%s.", a->choices[i]->name);
        find_difference(a->choices[i], b->choices[i], found);
        return;
    }
    describe_choice(found->a, a, i);
    describe_choice(found->b, b, i);
}

static void find_difference(const gyre_layout *a, const gyre_layout *b, difference *found)
{
    if (a->choice_count > 0 || b->choice_count > 0) {
        find_different_choice(a, b, found);
        return;
    }
    uint32_t most = a->field_count > b->field_count ? a->field_count : b->field_count;
    for (uint32_t i = 0; i < most; i++) {
        const gyre_field *left = i < a->field_count ? &a->fields[i] : NULL;
        const gyre_field *right = i < b->field_count ? &b->fields[i] : NULL;
        if (left && right && same_place(left, right)) {
            if (strcmp(left->type->text, right->type->text) == 0)
                continue;
            size_t used = strlen(found->path);
            snprintf(found->path + used, sizeof found->path - used, "%s.", left->name);
            find_difference(left->type, right->type, found);
            return;
        }
        describe_difference(found->a, found->path, left, right);
        describe_difference(found->b, found->path, right, left);
        return;
    }
    snprintf(found->a, sizeof found->a, "%" PRIu64 " bytes (%s)", a->size, a->text);
    snprintf(found->b, sizeof found->b, "%" PRIu64 " bytes (%s)", b->size, b->text);
}

/* Whether `longer` begins with the fields of `shorter` and declares further fields, at whatever offset these lie. */
static bool has_more(const gyre_layout *longer, const gyre_layout *shorter)
{
    uint32_t count = shorter->field_count;
    if (count == 0 || longer->field_count <= count || longer->choice_count || shorter->choice_count)
        return false;
    if (!longer->tail != !shorter->tail || longer->tail < shorter->tail)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!same_place(&longer->fields[i], &shorter->fields[i]) ||
            strcmp(longer->fields[i].type->text, shorter->fields[i].type->text) != 0)
            return false;
    return true;
}

/* Whether the first appended field of `longer` lies in the padding at the end of `shorter`. */
static bool grows_in_padding(const gyre_layout *longer, const gyre_layout *shorter)
{
    return has_more(longer, shorter) && !shorter->tail &&
           longer->fields[shorter->field_count].offset < shorter->size;
}

/* Whether each choice of `shorter` has the same number and name in `longer`, and is the same there or has fields
 * appended. */
static bool choices_extend(const gyre_layout *longer, const gyre_layout *shorter)
{
    bool extends = longer->shape == GYRE_SHAPE_CHOICE && shorter->shape == GYRE_SHAPE_CHOICE &&
                   longer->choice_count >= shorter->choice_count && strcmp(longer->text, shorter->text) != 0;
    for (uint32_t i = 0; extends && i < shorter->choice_count; i++) {
        const gyre_layout *now = longer->choices[i], *before = shorter->choices[i];
        extends = strcmp(now->name, before->name) == 0 &&
                  (strcmp(now->text, before->text) == 0 || gyre_layout_extends(now, before));
    }
    return extends;
}

bool gyre_layout_extends(const gyre_layout *longer, const gyre_layout *shorter)
{
    if (longer->choice_count || shorter->choice_count)
        return choices_extend(longer, shorter);
    return has_more(longer, shorter) && !grows_in_padding(longer, shorter);
}

static gyre_status refuse_padding(const gyre_layout *longer, const char *owner, const gyre_layout *shorter,
                                  const char *other, const char *hashes)
{
    const gyre_field *field = &longer->fields[shorter->field_count];
    char type[120];
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "message type mismatch: '%s' of %s also has the field '%s' of type %s at offset %" PRIu64
        ", within the %" PRIu64
        " bytes of '%s' of %s, which end with padding %s; what is appended lies behind the "
        "shorter type's last byte: append a field aligned to %" PRIu64 " first, such as a u%" PRIu64
        ", or include the same message header in both",
        longer->name, owner, field->name, gyre_field_type_text(field, type, sizeof type), field->offset,
        shorter->size, shorter->name, other, hashes, shorter->alignment, 8 * shorter->alignment);
}

gyre_status gyre_layout_compare(const gyre_layout *a, const char *a_owner, const gyre_layout *b,
                                const char *b_owner)
{
    char hashes[80];
    if (a->hash == b->hash && strcmp(a->text, b->text) == 0)
        return GYRE_OK;
    snprintf(hashes, sizeof hashes, "(layout hashes %016" PRIx64 " and %016" PRIx64 ")", a->hash, b->hash);
    if (grows_in_padding(a, b))
        return refuse_padding(a, a_owner, b, b_owner, hashes);
    if (grows_in_padding(b, a))
        return refuse_padding(b, b_owner, a, a_owner, hashes);
    difference found = {.path = ""};
    find_difference(a, b, &found);
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "message type mismatch: '%s' of %s has %s, '%s' of %s has %s %s; include the same message "
        "header in both",
        a->name, a_owner, found.a, b->name, b_owner, found.b, hashes);
}
