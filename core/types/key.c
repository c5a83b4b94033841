/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds and hashes the keys of messages (key.h). Only a field without padding can be a key, because equal values must have
 * equal bytes. A message may hold anything, so a part (a field with items in the tail) is checked before its items are
 * read. No state, no lock.
 */
#include "core/types/key.h"

#include <stdio.h>
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
