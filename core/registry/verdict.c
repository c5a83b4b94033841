/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes and reads the text form of a verdict (verdict.h): a first line, one line "key value" for each member in the
 * order of one table, and a last line. Line breaks and other control characters inside a value become spaces. Has no
 * state.
 */
#include "core/registry/verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char first_line[] = "gyre-verdict 1\n", last_line[] = "end\n";

struct field {
    const char *key;
    size_t offset, text_size; /* text_size 0: a number */
};

#define NUMBER(member)                                                                                       \
    {                                                                                                        \
#member, offsetof(struct gyre_verdict, member), 0                                                    \
    }
#define TEXT(member)                                                                                         \
    {                                                                                                        \
#member, offsetof(struct gyre_verdict, member), sizeof((struct gyre_verdict *)0)->member             \
    }
static const struct field fields[] = {
    NUMBER(status),    TEXT(reason),  NUMBER(abi_major),    NUMBER(abi_minor),    TEXT(plugin_name),
    TEXT(build),       NUMBER(score), NUMBER(device_count), TEXT(vendor_library), TEXT(summary),
    TEXT(fingerprint), TEXT(watch),   TEXT(notes),          NUMBER(probe_ns),     NUMBER(expires),
};
#undef NUMBER
#undef TEXT

enum { FIELDS = sizeof fields / sizeof fields[0] };

void gyre_verdict_refuse(struct gyre_verdict *verdict, gyre_status status, const char *reason)
{
    verdict->status = status;
    snprintf(verdict->reason, sizeof verdict->reason, "%s", reason);
}

static size_t write_field(const struct field *field, const struct gyre_verdict *verdict, char *text,
                          size_t size)
{
    const char *member = (const char *)verdict + field->offset;
    int64_t number;
    int length;
    if (field->text_size > 0) {
        length = snprintf(text, size, "%s %.*s\n", field->key, (int)field->text_size - 1, member);
    } else {
        memcpy(&number, member, sizeof number);
        length = snprintf(text, size, "%s %" PRId64 "\n", field->key, number);
    }
    if (length < 0 || (size_t)length >= size)
        return 0;
    for (int i = 0; i < length - 1; i++)
        if ((unsigned char)text[i] < ' ')
            text[i] = ' ';
    return (size_t)length;
}

size_t gyre_verdict_write(const struct gyre_verdict *verdict, char *text, size_t size)
{
    size_t used = strlen(first_line);
    if (size < used + sizeof last_line)
        return 0;
    memcpy(text, first_line, used + 1);
    for (size_t i = 0; i < FIELDS; i++) {
        size_t length = write_field(&fields[i], verdict, text + used, size - used);
        if (length == 0)
            return 0;
        used += length;
    }
    if (size - used < sizeof last_line)
        return 0;
    memcpy(text + used, last_line, sizeof last_line);
    return used + strlen(last_line);
}

/* Returns the value if the line at `text` has this key, else NULL. *end: the line break behind the value. */
static const char *find_value(const char *text, const char *key, const char **end)
{
    size_t length = strlen(key);
    if (strncmp(text, key, length) != 0 || text[length] != ' ')
        return NULL;
    *end = strchr(text, '\n');
    return *end ? text + length + 1 : NULL;
}

static bool read_field(const struct field *field, const char *value, const char *end,
                       struct gyre_verdict *verdict)
{
    char *member = (char *)verdict + field->offset;
    size_t length = (size_t)(end - value);
    if (field->text_size > 0) {
        if (length >= field->text_size)
            return false;
        memcpy(member, value, length);
        member[length] = '\0';
        return true;
    }
    char *stop;
    errno = 0;
    int64_t number = strtoll(value, &stop, 10);
    memcpy(member, &number, sizeof number);
    return length > 0 && stop == end && errno == 0;
}

static bool is_possible(const struct gyre_verdict *verdict)
{
    bool can_start = verdict->status == GYRE_OK;
    return verdict->status >= GYRE_OK && verdict->status <= GYRE_INTERNAL && verdict->score >= INT32_MIN &&
           verdict->score <= INT32_MAX && verdict->device_count >= 0 && verdict->device_count <= UINT32_MAX &&
           verdict->abi_major >= 0 && verdict->abi_major <= UINT16_MAX && verdict->abi_minor >= 0 &&
           verdict->abi_minor <= UINT16_MAX &&
           (can_start ? verdict->device_count > 0 : verdict->reason[0] != '\0');
}

bool gyre_verdict_read(const char *text, struct gyre_verdict *verdict)
{
    memset(verdict, 0, sizeof *verdict);
    if (strncmp(text, first_line, strlen(first_line)) != 0)
        return false;
    text += strlen(first_line);
    for (size_t i = 0; i < FIELDS; i++) {
        const char *end, *value = find_value(text, fields[i].key, &end);
        if (!value || !read_field(&fields[i], value, end, verdict))
            return false;
        text = end + 1;
    }
    return strcmp(text, last_line) == 0 && is_possible(verdict);
}
