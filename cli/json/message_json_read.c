/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts JSON to the bytes of a message. Walks the layout and the parsed document side by side, and keeps the path of the
 * present field for an error sentence (message_json_scalars.c). The layout bounds the recursion, not the text.
 */
#include "cli/json/json.h"
#include "cli/json/message_json_reader.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/types/compare.h"
#include "core/types/message.h"

enum { NAMES_MAX = 256, FIELDS_SHOWN = 8 };

static gyre_status read_value(json_reader *reader, const gyre_layout *layout, const json_t *value,
                              void *target);

static gyre_status unknown_field(const json_reader *reader, const gyre_layout *layout, const char *key)
{
    const char *names[NAMES_MAX];
    size_t count = layout->field_count < NAMES_MAX ? layout->field_count : NAMES_MAX;
    for (size_t i = 0; i < count; i++)
        names[i] = layout->fields[i].name;
    const char *nearest = gyre_text_nearest(key, names, count), *dot = reader->path_length ? "." : "";
    if (nearest)
        return gyre_error_set(GYRE_INVALID, "unknown field '%s%s%.60s'; did you mean '%s'?", reader->path,
                              dot, key, nearest);
    char list[256];
    return gyre_error_set(GYRE_INVALID, "unknown field '%s%s%.60s': '%s' has the fields %s", reader->path,
                          dot, key, layout->name, gyre_text_list(names, count, list, sizeof list));
}

static gyre_status check_keys(const json_reader *reader, const gyre_layout *layout, const json_t *object)
{
    const char *key;
    const json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key,
                        value) if (!gyre_layout_field(layout, key)) return unknown_field(reader, layout, key);
    return GYRE_OK;
}

/* ---- buffers ---- */

/* Reads a number of bytes, a member that may be missing. */
static gyre_status read_optional_size(json_reader *reader, const json_t *object, const char *key,
                                      uint64_t *out)
{
    const json_t *value = json_object_get(object, key);
    *out = 0;
    if (!value)
        return GYRE_OK;
    size_t before = reader_enter(reader, "%s%s", reader->path_length ? "." : "", key);
    gyre_status status = reader_integer(reader, GYRE_SCALAR_U64, value, out);
    if (status == GYRE_OK)
        reader_leave(reader, before);
    return status;
}

/* Reads {"buffer":"NAME"}, in which offset and size may be missing. */
static gyre_status read_named_part(json_reader *reader, const json_t *object, void *target)
{
    const json_t *name = json_object_get(object, "buffer"), *value;
    const char *key;
    uint64_t offset = 0, size = 0;
    gyre_handle handle = {0};
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        if (strcmp(key, "buffer") != 0 && strcmp(key, "offset") != 0 && strcmp(key, "size") != 0)
            return gyre_error_set(GYRE_INVALID,
                                  "field '%s': a buffer is named by \"buffer\", "
                                  "\"offset\" and \"size\", found '%.60s'",
                                  reader->path, key);
    }
    if (!json_is_string(name) || reader_holds_nul(name))
        return reader_refuse(reader, "the name of a buffer behind \"buffer\"", name);
    gyre_status status = read_optional_size(reader, object, "offset", &offset);
    if (status == GYRE_OK)
        status = read_optional_size(reader, object, "size", &size);
    if (status == GYRE_OK && (status = reader->names->resolve(reader->names->context, json_string_value(name),
                                                              offset, size, &handle)) != GYRE_OK)
        return gyre_error_add(status, "field '%s'", reader->path);
    memcpy(target, &handle, sizeof handle);
    return status;
}

static bool is_handle(const gyre_layout *layout)
{
    return layout->size == sizeof(gyre_handle) && strcmp(layout->name, "gyre_handle") == 0;
}

/* Reads a buffer that is given by its name. False when it is given by numbers, like any message. */
static bool read_buffer_name(json_reader *reader, const json_t *value, void *target, gyre_status *status)
{
    gyre_handle handle = {0};
    if (!reader->names)
        return false;
    if (json_is_object(value) && json_object_get(value, "buffer")) {
        *status = read_named_part(reader, value, target);
        return true;
    }
    if (!json_is_string(value) || reader_is_number(value))
        return false;
    *status = reader->names->resolve(reader->names->context, json_string_value(value), 0, 0, &handle);
    if (*status == GYRE_OK)
        memcpy(target, &handle, sizeof handle);
    else
        gyre_error_add(*status, "field '%s'", reader->path);
    return true;
}

/* ---- parts ---- */

static gyre_status take_items(json_reader *reader, const gyre_layout *layout, uint64_t count,
                              unsigned char *target, unsigned char **items)
{
    gyre_part part;
    if (!gyre_part_take(reader->message, reader->message_size, layout->element->size, count, &part))
        return gyre_error_set(GYRE_INVALID,
                              "field '%s': %" PRIu64 " items of %" PRIu64
                              " bytes do not fit into the tail: the "
                              "message holds at most %" PRIu64 " bytes",
                              reader->path, count, layout->element->size, reader->message_size);
    memcpy(target, &part, sizeof part);
    *items = reader->message + part.offset;
    return GYRE_OK;
}

static gyre_status read_items(json_reader *reader, const gyre_layout *layout, const json_t *value,
                              unsigned char *target)
{
    unsigned char *items = NULL;
    if (!json_is_array(value)) {
        char expected[120];
        snprintf(expected, sizeof expected, "an array of any length (%.80s)", layout->element->name);
        return reader_refuse(reader, expected, value);
    }
    gyre_status status = take_items(reader, layout, json_array_size(value), target, &items);
    for (size_t i = 0; status == GYRE_OK && i < json_array_size(value); i++) {
        size_t before = reader_enter(reader, "[%zu]", i);
        status =
            read_value(reader, layout->element, json_array_get(value, i), items + i * layout->element->size);
        if (status == GYRE_OK)
            reader_leave(reader, before);
    }
    return status;
}

static gyre_status read_part(json_reader *reader, const gyre_layout *layout, const json_t *value,
                             unsigned char *target)
{
    unsigned char *items = NULL;
    gyre_status status = GYRE_OK;
    bool is_text = json_is_string(value) && !reader_is_number(value);
    if (layout->shape == GYRE_SHAPE_OPTIONAL) {
        if (!value || json_is_null(value))
            return GYRE_OK;
        status = take_items(reader, layout, 1, target, &items);
        return status == GYRE_OK ? read_value(reader, layout->element, value, items) : status;
    }
    if (layout->shape == GYRE_SHAPE_UTF8 && !is_text)
        return reader_refuse(reader, "a text (utf8)", value);
    if (!is_text || layout->element->scalar != GYRE_SCALAR_U8)
        return read_items(reader, layout, value, target);
    status = take_items(reader, layout, json_string_length(value), target, &items);
    if (status == GYRE_OK)
        memcpy(items, json_string_value(value), json_string_length(value));
    return status;
}

static bool may_be_missing(const gyre_field *field)
{
    return field->type->shape == GYRE_SHAPE_OPTIONAL && field->dimension_count == 0;
}

/* ---- messages and arrays ---- */

static gyre_status read_array(json_reader *reader, const gyre_field *field, uint32_t dimension,
                              const json_t *value, unsigned char *target)
{
    if (dimension == field->dimension_count)
        return read_value(reader, field->type, value, target);
    uint64_t length = field->dimensions[dimension], stride = field->type->size;
    for (uint32_t d = dimension + 1; d < field->dimension_count; d++)
        stride *= field->dimensions[d];
    if (field->type->scalar == GYRE_SCALAR_U8 && stride == 1 && json_is_string(value) &&
        !reader_is_number(value))
        return reader_bytes(reader, value, length, target);
    if (!json_is_array(value) || json_array_size(value) != length) {
        char expected[120];
        snprintf(expected, sizeof expected, "an array of %" PRIu64 " (%s)", length, field->type->name);
        return reader_refuse(reader, expected, value);
    }
    for (uint64_t i = 0; i < length; i++) {
        size_t before = reader_enter(reader, "[%" PRIu64 "]", i);
        gyre_status status =
            read_array(reader, field, dimension + 1, json_array_get(value, i), target + i * stride);
        if (status != GYRE_OK)
            return status;
        reader_leave(reader, before);
    }
    return GYRE_OK;
}

static gyre_status read_struct(json_reader *reader, const gyre_layout *layout, const json_t *value,
                               void *target)
{
    if (!json_is_object(value)) {
        char expected[160];
        if (is_handle(layout) && reader->names)
            snprintf(expected, sizeof expected,
                     "the name of a buffer, or {\"buffer\":\"NAME\",\"offset\":0,\"size\":0}");
        else
            snprintf(expected, sizeof expected, "an object with the fields of '%.100s'", layout->name);
        return reader_refuse(reader, expected, value);
    }
    gyre_status status = check_keys(reader, layout, value);
    for (uint32_t i = 0; status == GYRE_OK && i < layout->field_count; i++) {
        const gyre_field *field = &layout->fields[i];
        const json_t *member = json_object_get(value, field->name);
        size_t before = reader_enter(reader, "%s%s", reader->path_length ? "." : "", field->name);
        if (!member && !may_be_missing(field)) {
            char type[120];
            return gyre_error_set(GYRE_INVALID, "missing field '%s' (%s)", reader->path,
                                  gyre_field_type_text(field, type, sizeof type));
        }
        status = read_array(reader, field, 0, member, (unsigned char *)target + field->offset);
        if (status == GYRE_OK)
            reader_leave(reader, before);
    }
    return status;
}

static gyre_status read_value(json_reader *reader, const gyre_layout *layout, const json_t *value,
                              void *target)
{
    if (layout->element)
        return read_part(reader, layout, value, target);
    if (reader_holds_nul(value))
        return reader_refuse(reader, "a value without \\u0000, which texts alone may have", value);
    if (layout->shape == GYRE_SHAPE_ID128)
        return reader_id128(reader, value, target);
    gyre_status status;
    switch (layout->scalar) {
    case GYRE_SCALAR_NO:
        if (is_handle(layout) && read_buffer_name(reader, value, target, &status))
            return status;
        return read_struct(reader, layout, value, target);
    case GYRE_SCALAR_F32:
    case GYRE_SCALAR_F64:
        return reader_real(reader, layout->scalar, value, target);
    case GYRE_SCALAR_NOTHING:
        if (json_is_null(value) || (json_is_object(value) && json_object_size(value) == 0))
            return GYRE_OK;
        return reader_refuse(reader, "null or {} (gyre_none)", value);
    default:
        return reader_integer(reader, layout->scalar, value, target);
    }
}

/* ---- one of several messages, and packets ---- */

/* The names of a protocol's types; returns how many. */
static size_t choice_names(const gyre_layout *layout, const char *names[NAMES_MAX])
{
    const size_t count = layout->choice_count < NAMES_MAX ? layout->choice_count : NAMES_MAX;
    for (size_t i = 0; i < count; i++)
        names[i] = layout->choices[i]->name;
    return count;
}

static gyre_status unknown_type(const gyre_layout *layout, const char *name)
{
    char list[512], hint[GYRE_TEXT_HINT_SIZE];
    const char *names[NAMES_MAX];
    const size_t count = choice_names(layout, names);
    return gyre_error_set(GYRE_INVALID, "no handler for type '%.60s': '%s' is one of %s%s", name,
                          layout->name, gyre_text_list(names, count, list, sizeof list),
                          gyre_text_hint(name, names, count, hint));
}

/* Finds which message of a protocol the value is, and its members: the members beside "type", or the members of the only
 * member. */
static gyre_status find_choice(const gyre_layout *layout, json_t *value, uint32_t *number, json_t **members)
{
    json_t *type = json_object_get(value, MESSAGE_JSON_TYPE);
    const char *only = json_object_iter_key(json_object_iter(value));
    if (json_is_string(type)) {
        *number = reader_holds_nul(type) ? 0 : gyre_layout_choice(layout, json_string_value(type));
        if (*number == 0)
            return unknown_type(layout, json_string_value(type));
        *members = value;
        json_object_del(value, MESSAGE_JSON_TYPE);
        return GYRE_OK;
    }
    if (json_object_size(value) == 1 && json_is_object(json_object_get(value, only))) {
        *number = gyre_layout_choice(layout, only);
        *members = json_object_get(value, only);
        return *number ? GYRE_OK : unknown_type(layout, only);
    }
    char list[512];
    const char *names[NAMES_MAX];
    const size_t count = choice_names(layout, names);
    return gyre_error_set(GYRE_INVALID,
                          "expected an object with a member \"" MESSAGE_JSON_TYPE
                          "\" that names one of the types of '%s': %s",
                          layout->name, gyre_text_list(names, count, list, sizeof list));
}

static gyre_status read_choice(const gyre_layout *layout, json_t *value, const message_json_names *names,
                               unsigned char *message)
{
    uint32_t number = 0, used;
    json_t *members = NULL;
    gyre_status status = find_choice(layout, value, &number, &members);
    if (status != GYRE_OK)
        return status;
    const gyre_layout *choice = layout->choices[number - 1];
    json_reader reader = {
        .path = "", .message = message + GYRE_CHOICE_FRONT, .message_size = choice->size, .names = names};
    gyre_layout_clear_message(choice, reader.message);
    status = read_value(&reader, choice, members, reader.message);
    used = GYRE_CHOICE_FRONT + (uint32_t)gyre_layout_length(choice, reader.message);
    memcpy(message, &used, sizeof used);
    memcpy(message + sizeof used, &number, sizeof number);
    return status == GYRE_OK ? status : gyre_error_add(status, "type '%s'", choice->name);
}

/* Reads a packet: hexadecimal digits, in quotes or not, perhaps with spaces between bytes. */
static gyre_status read_packet(const gyre_layout *layout, const char *text, size_t length,
                               unsigned char *message)
{
    uint32_t used = GYRE_PACKET_FRONT;
    for (size_t i = 0; i < length; i++) {
        if (strchr(" \t\r\n\"", text[i]))
            continue;
        int high = reader_hex_digit(text[i]), low = i + 1 < length ? reader_hex_digit(text[i + 1]) : -1;
        if (high < 0 || low < 0)
            return gyre_error_set(GYRE_INVALID, "byte %zu: expected the two hexadecimal digits of a byte", i);
        if (used == layout->size)
            return gyre_error_set(GYRE_INVALID,
                                  "a '%s' takes at most %" PRIu64 " bytes on the wire, found more",
                                  layout->choices[0]->name, layout->size - GYRE_PACKET_FRONT);
        message[used++] = (unsigned char)(high << 4 | low);
        i++;
    }
    memcpy(message, &used, sizeof used);
    return GYRE_OK;
}

/* Refuses malformed JSON with jansson's words, without their part " near ...", because it quotes the rewritten text. */
static gyre_status refuse_malformed(const char *text, size_t length, const json_error_t *error)
{
    const char *near = strstr(error->text, " near ");
    int shown = near ? (int)(near - error->text) : (int)strlen(error->text);
    size_t offset = error->position > 0 ? (size_t)error->position : 0;
    if (json_error_code(error) == json_error_null_byte_in_key)
        return gyre_error_set(
            GYRE_INVALID,
            "malformed JSON at byte %zu: \\u0000 is a NUL byte, which no name of a field has; leave it out",
            message_json_unquoted_offset(text, length, offset));
    return gyre_error_set(GYRE_INVALID, "malformed JSON at byte %zu: %.*s",
                          message_json_unquoted_offset(text, length, offset), shown, error->text);
}

/* Whether a text looks like words, such as a file's name, rather than like JSON with a mistake. */
static bool is_plain_text(const char *text, size_t length)
{
    size_t blank = 0;
    while (blank < length && (text[blank] == ' ' || text[blank] == '\t')) /* no NUL ends the text */
        blank++;
    return blank < length && (isalpha((unsigned char)text[blank]) || strchr("/.=", text[blank]));
}

static gyre_status expect_fields(const gyre_layout *layout, gyre_status status)
{
    const char *names[FIELDS_SHOWN];
    char list[256];
    const size_t count = layout->field_count < FIELDS_SHOWN ? layout->field_count : FIELDS_SHOWN;
    for (size_t i = 0; i < count; i++)
        names[i] = layout->fields[i].name;
    gyre_text_list(names, count, list, sizeof list);
    return count ? gyre_error_add(status, "expected a JSON object with the fields %s", list) : status;
}

gyre_status message_json_read(const gyre_layout *layout, const char *text, size_t length, void *message)
{
    return message_json_read_named(layout, text, length, NULL, message);
}

gyre_status message_json_read_named(const gyre_layout *layout, const char *text, size_t length,
                                    const message_json_names *names, void *message)
{
    size_t quoted_length;
    const char *nul = memchr(text, '\0', length);
    if (layout->shape == GYRE_SHAPE_PACKET)
        return read_packet(layout, text, length, message);
    if (nul) /* jansson takes a NUL byte for white space */
        return gyre_error_set(GYRE_INVALID, "malformed JSON at byte %zu: a NUL byte", (size_t)(nul - text));
    char *quoted = message_json_quote_numbers(text, length, &quoted_length);
    if (!quoted)
        return gyre_error_set(GYRE_EXHAUSTED, "out of memory while reading JSON");
    json_error_t error;
    json_t *document =
        json_loadb(quoted, quoted_length, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    free(quoted);
    if (!document) {
        gyre_status status = refuse_malformed(text, length, &error);
        return is_plain_text(text, length) ? expect_fields(layout, status) : status;
    }
    json_reader reader = {.path = "", .message = message, .message_size = layout->size, .names = names};
    gyre_layout_clear_message(layout, message);
    gyre_status status = layout->shape == GYRE_SHAPE_CHOICE ? read_choice(layout, document, names, message)
                                                            : read_value(&reader, layout, document, message);
    json_decref(document);
    return status;
}
