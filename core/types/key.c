/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds and hashes the keys of messages (key.h). Only a field without padding can be a key, because equal values must have
 * equal bytes. A message may hold anything, so a part (a field with items in the tail) is checked before its items are
 * read. No state, no lock.
 */
#include "core/types/key.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/types/compare.h"

enum { NAMES_MAX = 64 }; /* how many field names are compared with a mistyped name */

static gyre_status no_field(const gyre_layout *layout, const char *name, const char *path)
{
    const char *names[NAMES_MAX];
    size_t count = 0;
    for (; count < layout->field_count && count < NAMES_MAX; count++)
        names[count] = layout->fields[count].name;
    const char *nearest = gyre_text_nearest(name, names, count);
    return gyre_error_set(GYRE_INVALID, "the key '%s': '%s' has no field '%s'%s%s%s", path, layout->name,
                          name, nearest ? "; did you mean '" : "; name a field of the request",
                          nearest ? nearest : "", nearest ? "'?" : "");
}

static bool is_plain(const gyre_layout *layout)
{
    return layout->shape == GYRE_SHAPE_ID128 ||
           (layout->shape == GYRE_SHAPE_PLAIN && layout->scalar != GYRE_SCALAR_NO);
}

static bool is_record(const gyre_field *field)
{
    return field->type->shape == GYRE_SHAPE_PLAIN && field->type->scalar == GYRE_SCALAR_NO &&
           field->count == 1;
}

/* Makes `field` the key. `base`: the offset of the struct that holds the field, in the message. */
static gyre_status adopt_field(const gyre_field *field, uint64_t base, struct gyre_message_key *key)
{
    char text[64];
    const gyre_layout *type = field->type;
    key->offset = base + field->offset;
    key->size = field->count * type->size;
    key->item_size = 0;
    key->scalar = type->shape == GYRE_SHAPE_ID128 ? GYRE_SCALAR_NO : type->scalar;
    key->count = field->count;
    if (is_plain(type))
        return GYRE_OK;
    if (type->element && is_plain(type->element) && field->count == 1) {
        key->item_size = type->element->size;
        return GYRE_OK;
    }
    return gyre_error_set(GYRE_INVALID,
                          "the key '%s' is of type %s, expected integers, floats, id128, a text or a span of "
                          "these: name a field inside it, as in '%s.NAME'",
                          key->path, gyre_field_type_text(field, text, sizeof text), key->path);
}

static gyre_status find_in(const gyre_layout *layout, struct gyre_message_key *key)
{
    char names[sizeof key->path], *rest = NULL;
    uint64_t base = 0;
    memcpy(names, key->path, sizeof names);
    for (char *name = strtok_r(names, ".", &rest); name; name = strtok_r(NULL, ".", &rest)) {
        const gyre_field *field = gyre_layout_field(layout, name);
        if (!field)
            return no_field(layout, name, key->path);
        if (!*rest || !is_record(field)) {
            if (*rest)
                return gyre_error_set(GYRE_INVALID,
                                      "the key '%s': '%s' is no record, so it has no field '%s'", key->path,
                                      name, rest);
            return adopt_field(field, base, key);
        }
        base += field->offset;
        layout = field->type;
    }
    return gyre_error_set(GYRE_INVALID, "the key '%s' names no field", key->path);
}

gyre_status gyre_message_key_find(const gyre_type *type, const char *path, struct gyre_message_key *out)
{
    gyre_layout *layout = NULL;
    memset(out, 0, sizeof *out);
    if (strlen(path) >= sizeof out->path)
        return gyre_error_set(GYRE_INVALID, "the key '%.60s...' is longer than %zu characters", path,
                              sizeof out->path - 1);
    snprintf(out->path, sizeof out->path, "%s", path);
    gyre_status status = gyre_layout_create_message(type, GYRE_MESSAGE_MAX, &layout);
    if (status == GYRE_OK)
        status = find_in(layout, out);
    gyre_layout_destroy(layout);
    return status;
}

static gyre_status refuse_outside(const struct gyre_message_key *key, size_t size)
{
    return gyre_error_set(
        GYRE_INVALID,
        "the key '%s' does not lie in the request of %zu bytes: send a whole one, begun with "
        "gyre_begin if its type has a tail",
        key->path, size);
}

gyre_status gyre_message_key_hash(const struct gyre_message_key *key, const void *message, size_t size,
                                  uint64_t *hash)
{
    const unsigned char *bytes = message;
    gyre_part part;
    if (key->offset + key->size > size)
        return refuse_outside(key, size);
    if (!key->item_size) {
        *hash = XXH3_64bits(bytes + key->offset, (size_t)key->size);
        return GYRE_OK;
    }
    memcpy(&part, bytes + key->offset, sizeof part);
    if (gyre_is_far(part))
        return gyre_error_set(
            GYRE_INVALID,
            "the key '%s' lies in a buffer, or stayed in the caller's memory: put it into the "
            "message (gyre_put, gyre_put_text)",
            key->path);
    const uint64_t length = part.count * key->item_size;
    if (part.offset > size || length > size - part.offset)
        return refuse_outside(key, size);
    *hash = XXH3_64bits(bytes + part.offset, (size_t)length);
    return GYRE_OK;
}

/* ---- keys of a fixed size ---- */

gyre_status gyre_message_key_check_fixed(const struct gyre_message_key *key, uint64_t most)
{
    if (key->item_size)
        return gyre_error_set(
            GYRE_INVALID,
            "the key '%s' is a text or a span, whose size changes: the key of a keyed actor or a link has a fixed "
            "size, as in FIELD(u64, %s) or FIELD(u8, %s[16])",
            key->path, key->path, key->path);
    if (key->scalar == GYRE_SCALAR_F32 || key->scalar == GYRE_SCALAR_F64)
        return gyre_error_set(
            GYRE_INVALID,
            "the key '%s' is a float, whose 0.0 and -0.0 are equal and have other bytes: the key of a keyed actor or a "
            "link is of integers, or an id128",
            key->path);
    if (key->size > most)
        return gyre_error_set(
            GYRE_INVALID, "the key '%s' has %llu bytes, and the key of a keyed actor or a link %llu at most",
            key->path, (unsigned long long)key->size, (unsigned long long)most);
    return GYRE_OK;
}

static gyre_status refuse_text(const struct gyre_message_key *key, const char *text, const char *expected)
{
    return gyre_error_set(GYRE_INVALID, "the key '%s': expected %s, found '%.80s'", key->path, expected,
                          text);
}

static gyre_status parse_number(const struct gyre_message_key *key, const char *text, void *bytes)
{
    const bool is_signed = key->scalar <= GYRE_SCALAR_I64;
    const unsigned bits = (unsigned)(8 * key->size);
    char *end = NULL, expected[64];
    errno = 0;
    uint64_t value = is_signed ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
    const uint64_t over = bits == 64  ? 0
                          : is_signed ? (value + (UINT64_C(1) << (bits - 1))) >> bits
                                      : value >> bits;
    if (end == text || *end || errno || over || (!is_signed && strchr(text, '-'))) {
        snprintf(expected, sizeof expected, "a whole number of %u bits, %s sign", bits,
                 is_signed ? "perhaps with a" : "without a");
        return refuse_text(key, text, expected);
    }
    memcpy(bytes, &value, (size_t)key->size); /* the machines that Gyre runs on store the low bytes first */
    return GYRE_OK;
}

static gyre_status parse_id(const struct gyre_message_key *key, const char *text, unsigned char *bytes)
{
    size_t digits = 0;
    for (const char *at = text; *at && digits <= 32; at++) {
        const char digit[2] = {*at, 0};
        if (*at == '-')
            continue;
        if (!isxdigit((unsigned char)*at) || digits == 32)
            digits = 33;
        else if (digits++ % 2 == 0)
            bytes[(digits - 1) / 2] = (unsigned char)(strtoul(digit, NULL, 16) << 4);
        else
            bytes[(digits - 1) / 2] |= (unsigned char)strtoul(digit, NULL, 16);
    }
    return digits == 32 ? GYRE_OK : refuse_text(key, text, "an id like 00112233-4455-6677-8899-aabbccddeeff");
}

gyre_status gyre_message_key_parse(const struct gyre_message_key *key, const char *text, void *bytes)
{
    memset(bytes, 0, (size_t)key->size);
    if (key->scalar == GYRE_SCALAR_NO && key->count == 1)
        return parse_id(key, text, bytes);
    if (key->count == 1)
        return parse_number(key, text, bytes);
    if (key->scalar != GYRE_SCALAR_U8 && key->scalar != GYRE_SCALAR_I8)
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "the key '%s' is an array of numbers, which cannot be written as a text: read its state in "
            "the program, with gyre_kernel_key_read",
            key->path);
    if (strlen(text) > key->size)
        return refuse_text(key, text, "a text that fits into its array");
    memcpy(bytes, text, strlen(text));
    return GYRE_OK;
}
