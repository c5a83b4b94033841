/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks and builds messages with tails, as bytes (message.h); the functions of gyre.h for such messages stand here too.
 * Nothing in a message is believed, because its offsets and counts may hold anything. No state; any thread.
 */
#include "core/types/message.h"
#include "core/types/types.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "gyre/gyre.h"

enum { WHERE_SIZE = 200 };

/* ---- checking ---- */

typedef struct checker {
    const unsigned char *message;
    uint64_t least, used;
    uint64_t left; /* bytes of the tail that no part has claimed yet */
    char where[WHERE_SIZE];
} checker;

static bool check_value(checker *check, const gyre_layout *layout, uint64_t at);

/* Puts one step in front of the path of the wrong field. The walk calls it on its way back, so the steps come last first. */
__attribute__((format(printf, 2, 3))) static bool came_from(checker *check, const char *format, ...)
{
    char step[WHERE_SIZE], whole[2 * WHERE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(step, sizeof step, format, args);
    va_end(args);
    snprintf(whole, sizeof whole, "%s%s", step, check->where);
    snprintf(check->where, sizeof check->where, "%.*s", WHERE_SIZE - 1, whole);
    return false;
}

static bool wrong_part(const gyre_part *part, const checker *check, const char *what)
{
    gyre_error_set(GYRE_INVALID, "%soffset %u and count %u %s of %" PRIu64 " bytes",
                   gyre_is_far(*part) ? "the name of a buffer, " : "", part->offset & ~GYRE_PART_FAR,
                   part->count, what, check->used);
    return false;
}

/* Checks that the message says where the items are. The items lie in a device buffer, and only the device can look at them. */
static bool check_far(checker *check, const gyre_layout *layout, const gyre_part *part)
{
    const uint32_t at = part->offset & ~GYRE_PART_FAR;
    gyre_far far;
    if (layout->shape == GYRE_SHAPE_OPTIONAL || layout->element->has_parts || at < check->least ||
        at > check->used || check->used - at < sizeof far || at % 8 != 0)
        return wrong_part(part, check, "do not lie, aligned, in the tail of a message");
    if (check->left < sizeof far)
        return wrong_part(part, check, "lie over another part of a message");
    check->left -= sizeof far;
    memcpy(&far, check->message + at, sizeof far);
    return far.handle.size == part->count * layout->element->size ||
           wrong_part(part, check, "are not what their buffer holds, in a message");
}

static bool check_part(checker *check, const gyre_layout *layout, uint64_t at)
{
    gyre_part part;
    uint64_t size = layout->element->size;
    memcpy(&part, check->message + at, sizeof part);
    if (part.count == 0)
        return true;
    if (layout->shape == GYRE_SHAPE_OPTIONAL && part.count > 1)
        return wrong_part(&part, check, "of an optional field say more than one, in a message");
    if (gyre_is_far(part))
        return check_far(check, layout, &part);
    if (part.offset < check->least || part.offset > check->used ||
        part.count > (check->used - part.offset) / size ||
        part.offset % gyre_item_alignment_((gyre_u32)size) != 0)
        return wrong_part(&part, check, "do not lie, aligned, in the tail of a message");
    if (part.count * size > check->left)
        return wrong_part(&part, check, "lie over another part of a message");
    check->left -= part.count * size;
    for (uint32_t i = 0; layout->element->has_parts && i < part.count; i++)
        if (!check_value(check, layout->element, part.offset + i * size))
            return came_from(check, "[%u]", i);
    return true;
}

static bool check_value(checker *check, const gyre_layout *layout, uint64_t at)
{
    if (layout->element)
        return check_part(check, layout, at);
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const gyre_field *field = &layout->fields[i];
        for (uint64_t k = 0; field->type->has_parts && k < field->count; k++)
            if (!check_value(check, field->type, at + field->offset + k * field->type->size))
                return field->count > 1 ? came_from(check, ".%s[%" PRIu64 "]", field->name, k)
                                        : came_from(check, ".%s", field->name);
    }
    return true;
}

uint64_t gyre_layout_length(const gyre_layout *layout, const void *message)
{
    uint32_t used;
    if (layout->tail == 0)
        return layout->size;
    memcpy(&used, message, sizeof used);
    return used;
}

static gyre_status check_choice(const gyre_layout *layout, const unsigned char *message, uint64_t length)
{
    uint32_t number;
    memcpy(&number, message + GYRE_CHOICE_FRONT - sizeof number, sizeof number);
    if (number == 0 || number > layout->choice_count)
        return gyre_error_set(GYRE_INVALID,
                              "a message of type '%s' is one of %" PRIu32 " types, found number %" PRIu32,
                              layout->name, layout->choice_count, number);
    return gyre_layout_check_message(layout->choices[number - 1], message + GYRE_CHOICE_FRONT,
                                     length - GYRE_CHOICE_FRONT);
}

gyre_status gyre_layout_check_message(const gyre_layout *layout, const void *message, uint64_t length)
{
    if (length < layout->least || length > layout->size || gyre_layout_length(layout, message) != length)
        return gyre_error_set(GYRE_INVALID,
                              "a message of type '%s' is %" PRIu64 " to %" PRIu64
                              " bytes long and says so in "
                              "its first word, found %" PRIu64 " bytes that say %" PRIu64,
                              layout->name, layout->least, layout->size, length,
                              length >= layout->least ? gyre_layout_length(layout, message) : 0);
    if (layout->shape == GYRE_SHAPE_CHOICE)
        return check_choice(layout, message, length);
    if (layout->tail == 0 || layout->shape == GYRE_SHAPE_PACKET)
        return GYRE_OK;
    checker check = {message, layout->least, length, length - layout->least, ""};
    if (check_value(&check, layout, 0))
        return GYRE_OK;
    return gyre_error_add(GYRE_INVALID, "message type '%s', field '%s'", layout->name, check.where + 1);
}

/* ---- building ---- */

void gyre_layout_clear_message(const gyre_layout *layout, void *message)
{
    uint32_t least = (uint32_t)layout->least;
    memset(message, 0, layout->size);
    if (layout->tail > 0)
        memcpy(message, &least, sizeof least);
}

bool gyre_part_take(void *message, uint64_t size, uint64_t item_size, uint64_t count, gyre_part *part)
{
    uint32_t used;
    memcpy(&used, message, sizeof used);
    uint64_t alignment = gyre_item_alignment_((gyre_u32)item_size);
    uint64_t first = ((uint64_t)used + alignment - 1) / alignment * alignment;
    if (count == 0) {
        *part = (gyre_part){0, 0};
        return true;
    }
    if (used > size || first > size || count > (size - first) / item_size)
        return false;
    memset((unsigned char *)message + used, 0, first + count * item_size - used);
    *part = (gyre_part){(gyre_u32)first, (gyre_u32)count};
    used = (uint32_t)(first + count * item_size);
    memcpy(message, &used, sizeof used);
    return true;
}

/* The fewest bytes that a message with a tail can use. */
enum { BEGUN = 8 };

static gyre_status wrong_place(size_t used)
{
    if (used < BEGUN) /* perhaps all zeros: the first item would lie over the word `used` itself */
        return gyre_error_set(GYRE_INVALID,
                              "the message was not begun: gyre_begin(&message) before gyre_put");
    return gyre_error_set(GYRE_INVALID, "the part does not lie in the message: gyre_put needs a field of the "
                                        "message, or of an item in its tail");
}

gyre_status gyre_part_check(const void *message, size_t size, const gyre_part *part)
{
    const size_t used = *(const gyre_u32 *)message, end = used < size ? used : size;
    const uintptr_t at = (uintptr_t)part - (uintptr_t)message; /* huge for a part before the message */
    const bool within = at >= sizeof(gyre_u32) && at < end && end - at >= sizeof *part;
    return used >= BEGUN && within ? GYRE_OK : wrong_place(used);
}

static gyre_status no_room(const gyre_u32 *used, size_t size, size_t item_size, size_t count)
{
    if (*used > size)
        return gyre_error_set(GYRE_INVALID,
                              "the message says that it uses %" PRIu32
                              " of its %zu bytes, as one does that was "
                              "not begun: begin it with gyre_begin(&message) before gyre_put",
                              *used, size);
    return gyre_error_set(GYRE_INVALID,
                          "%zu items of %zu bytes do not fit behind the %" PRIu32
                          " bytes of a message that holds "
                          "at most %zu: declare a larger tail, or send less",
                          count, item_size, *used, size);
}

gyre_status gyre_part_put(void *message, size_t size, gyre_part *part, const void *items, size_t item_size,
                          size_t count)
{
    if (!gyre_part_take(message, size, item_size, count, part))
        return no_room(message, size, item_size, count);
    if (items)
        memcpy((unsigned char *)message + part->offset, items, count * item_size);
    return GYRE_OK;
}

gyre_status gyre_message_put(void *message, size_t size, gyre_part *part, const void *items, size_t item_size,
                             size_t count)
{
    if (!message || !part || item_size == 0 || size < sizeof(gyre_u32))
        return gyre_error_set(GYRE_INVALID, "gyre_put needs a message that was begun, a part and items");
    const gyre_status status = gyre_part_check(message, size, part);
    return status == GYRE_OK ? gyre_part_put(message, size, part, items, item_size, count) : status;
}

/*
 * The mark of a far part that names the caller's memory; it stands where a far part in a buffer has its offset. A message
 * that came from elsewhere or was damaged does not have this mark, so its addresses are not followed.
 */
static uint64_t mark_of(const gyre_far *far)
{
    /* atomic; one for the process: if two threads choose at once, one of the values stays */
    static uint64_t secret;
    uint64_t mark = __atomic_load_n(&secret, __ATOMIC_ACQUIRE), none = 0;
    if (mark == 0) {
        uint64_t chosen = 1;
        if (getentropy(&chosen, sizeof chosen) != 0)
            chosen = (uint64_t)(uintptr_t)&chosen * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)getpid();
        (void)__atomic_compare_exchange_n(&secret, &none, chosen | 1, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE);
        mark = __atomic_load_n(&secret, __ATOMIC_ACQUIRE);
    }
    mark = (mark ^ far->address) * UINT64_C(0x9e3779b97f4a7c15);
    mark = (mark ^ mark >> 29 ^ far->handle.size) * UINT64_C(0xbf58476d1ce4e5b9);
    return mark ^ mark >> 32;
}

bool gyre_far_is_callers(const gyre_far *far)
{
    return far->handle.id == 0 && far->handle.size != 0 && far->handle.offset == mark_of(far);
}

gyre_status gyre_message_put_large(void *message, size_t size, gyre_part *part, const void *items,
                                   size_t item_size, size_t count)
{
    gyre_part place;
    if (!message || !part || item_size == 0 || size < sizeof(gyre_u32) || (!items && count))
        return gyre_error_set(GYRE_INVALID,
                              "gyre_put_large needs a message that was begun, a part and items");
    if (count > UINT32_MAX)
        return gyre_error_set(GYRE_INVALID, "gyre_put_large: %zu items are more than a part counts (%u)",
                              count, UINT32_MAX);
    gyre_status status = gyre_part_check(message, size, part);
    if (status != GYRE_OK || count == 0)
        return status == GYRE_OK ? gyre_part_put(message, size, part, NULL, item_size, 0) : status;
    gyre_far far = {.handle = {.size = (uint64_t)count * item_size}, .address = (uint64_t)(uintptr_t)items};
    far.handle.offset = mark_of(&far);
    status = gyre_part_put(message, size, &place, &far, sizeof far, 1);
    if (status == GYRE_OK)
        *part = (gyre_part){place.offset | GYRE_PART_FAR, (gyre_u32)count};
    return status;
}

gyre_status gyre_message_put_text(void *message, size_t size, gyre_part *part, const char *text)
{
    if (!text)
        return gyre_error_set(GYRE_INVALID, "gyre_put_text needs a text");
    size_t length = strlen(text);
    for (size_t at = 0, step; at < length; at += step) {
        step = gyre_text_character((const unsigned char *)text + at, length - at);
        if (step == 0)
            return gyre_error_set(GYRE_INVALID,
                                  "the text is not UTF-8: byte %zu, 0x%02x, starts no character", at,
                                  (unsigned char)text[at]);
    }
    return gyre_message_put(message, size, part, text, 1, length);
}

gyre_status gyre_message_check(const gyre_type *type, const void *message, size_t length)
{
    gyre_layout *layout = NULL;
    if (!message)
        return gyre_error_set(GYRE_INVALID, "gyre_message_check needs a message");
    gyre_status status = gyre_layout_create_message(type, GYRE_MESSAGE_MAX, &layout);
    if (status == GYRE_OK)
        status = gyre_layout_check_message(layout, message, length);
    gyre_layout_destroy(layout);
    return status;
}
