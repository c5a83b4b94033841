/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses configuration files with the library inih (ini_file.h). A reader checks each line before inih sees it, because inih
 * cuts long lines and section names silently, appends an indented line to the value above it, ignores text behind a
 * section's ']', cuts a value at " ;" even between quotes, and goes on after an error. The reader also counts the lines,
 * because inih does not tell the handler. The switches of inih are globals of a shared library, so they are never written
 * here.
 */
#include "core/config/ini_file.h"

#include <ini.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/config/ini_text.h"
#include "core/config/value.h"

struct reader {
    const char *path;
    const char *at, *end; /* the rest of the text */
    int line;
    gyre_status status; /* the first error; after it, nothing more is read */
    struct gyre_pool *pool;
    struct gyre_ini_file *file;
};

static gyre_status no_memory(const char *path)
{
    return gyre_error_set(GYRE_EXHAUSTED, "%s: no memory to read it", path);
}

/* Ends the reading with an error about the current line. */
__attribute__((format(printf, 2, 3))) static void refuse(struct reader *reader, const char *format, ...)
{
    char sentence[512];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    reader->status = gyre_error_set(GYRE_CONFIG, "%s:%d: %s", reader->path, reader->line, sentence);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void add_entry(struct reader *reader, const char *section, const char *key, const char *value)
{
    struct gyre_ini_file *file = reader->file;
    if (file->count == GYRE_INI_ENTRIES_MAX) {
        refuse(reader, "more than %d sections and keys; is this the right file?", GYRE_INI_ENTRIES_MAX);
        return;
    }
    struct gyre_ini_entry *grown =
        gyre_pool_grow(reader->pool, file->entries, file->count, sizeof *file->entries);
    if (!grown) {
        reader->status = no_memory(reader->path);
        return;
    }
    file->entries = grown;
    file->entries[file->count++] =
        (struct gyre_ini_entry){.section = section, .key = key, .value = value, .line = reader->line};
}

static char *text_keep(struct reader *reader, const char *text, size_t length)
{
    char *copy = gyre_pool_copy(reader->pool, text, length);
    if (!copy)
        reader->status = no_memory(reader->path);
    return copy;
}

/* ---- judging a line, before inih sees it ---- */

/* The offset at which a comment behind the text begins (white space, then ';'); `length` when there is none. */
static size_t comment_start(const char *text, size_t length)
{
    for (size_t i = 1; i < length; i++)
        if (text[i] == ';' && is_blank(text[i - 1]))
            return i;
    return length;
}

static bool quote_is_open(const char *text, size_t length)
{
    char open = '\0';
    for (size_t i = 0; i < length; i++)
        if (open ? text[i] == open : text[i] == '"' || text[i] == '\'')
            open = open ? '\0' : text[i];
    return open != '\0';
}

static void judge_section(struct reader *reader, const char *text, size_t length)
{
    const char *close = memchr(text, ']', length);
    if (!close) {
        refuse(reader, "'%.*s' has no closing ']'; expected [section]", (int)length, text);
        return;
    }
    size_t name_length = (size_t)(close - text) - 1;
    if (name_length > GYRE_INI_SECTION_MAX) {
        refuse(reader, "the section name has %zu characters; at most %d are possible", name_length,
               GYRE_INI_SECTION_MAX);
        return;
    }
    const char *name = text_keep(reader, text + 1, name_length);
    if (!name)
        return;
    if (!gyre_value_is_name(name)) {
        refuse(reader, "'%s' is no section name; expected letters, digits, '_', '-' and '.', without blanks",
               name);
        return;
    }
    const char *behind = close + 1, *end = text + length;
    while (behind < end && is_blank(*behind))
        behind++;
    if (behind < end && *behind != ';' && *behind != '#') {
        refuse(reader, "'%.*s' follows [%s] on its line and would be ignored; put it on a line of its own",
               (int)(end - behind), behind, name);
        return;
    }
    add_entry(reader, name, NULL, NULL);
}

static void judge_setting(struct reader *reader, const char *text, size_t length)
{
    size_t separator = 0, comment = comment_start(text, length);
    while (separator < length && text[separator] != '=' && text[separator] != ':')
        separator++;
    if (separator >= comment || text[separator] == ':')
        refuse(reader, "'%.*s' is neither [section] nor 'key = value'", (int)length, text);
    else if (comment < length && quote_is_open(text + separator, comment - separator))
        refuse(reader, "' ;' between quotes would cut the value, "
                       "because it starts a comment; remove the blank before ';'");
}

/* Whether a line is blank or a comment. Such lines may have any length. */
static bool is_silent(const char *text, size_t length)
{
    size_t first = 0;
    while (first < length && (is_blank(text[first]) || text[first] == '\r'))
        first++;
    return first == length || text[first] == ';' || text[first] == '#';
}

static void judge_line(struct reader *reader, const char *text, size_t length, size_t longest)
{
    if (length > longest) {
        refuse(reader, "the line has %zu bytes; at most %zu are possible", length, longest);
        return;
    }
    while (is_blank(text[length - 1]) || text[length - 1] == '\r')
        length--;
    if (is_blank(text[0]))
        refuse(
            reader,
            "the line is indented; start it in the first column (a value cannot continue on a second line)");
    else if (text[0] == '[')
        judge_section(reader, text, length);
    else
        judge_setting(reader, text, length);
}

/* ---- what inih calls ---- */

/* Called by inih as fgets: copies the next line with its line feed; NULL at the end and after an error. */
static char *next_line(char *buffer, int size, void *stream)
{
    struct reader *reader = stream;
    if (reader->status != GYRE_OK || reader->at == reader->end)
        return NULL;
    size_t left = (size_t)(reader->end - reader->at);
    const char *feed = memchr(reader->at, '\n', left);
    size_t length = feed ? (size_t)(feed - reader->at) : left;
    size_t longest = size - 2 < GYRE_INI_LINE_MAX ? (size_t)size - 2 : GYRE_INI_LINE_MAX;
    bool silent = is_silent(reader->at, length);
    reader->line++;
    if (!silent)
        judge_line(reader, reader->at, length, longest);
    if (reader->status != GYRE_OK)
        return NULL;
    size_t shown = silent ? 0 : length;
    memcpy(buffer, reader->at, shown);
    memcpy(buffer + shown, "\n", 2);
    reader->at += length + (feed != NULL);
    return buffer;
}

static const struct gyre_ini_entry *find_setting(const struct gyre_ini_file *file, const char *section,
                                                 const char *key)
{
    for (size_t i = 0; i < file->count; i++) {
        const struct gyre_ini_entry *entry = &file->entries[i];
        if (entry->key && strcmp(entry->key, key) == 0 && strcmp(entry->section, section) == 0)
            return entry;
    }
    return NULL;
}

static void take_setting(struct reader *reader, const char *section, const char *key, const char *value)
{
    const struct gyre_ini_entry *before = find_setting(reader->file, section, key);
    if (!*section)
        refuse(reader, "'%s' stands before the first section; put [gyre] or another section above it", key);
    else if (!gyre_value_is_name(key))
        refuse(reader, "'%s' is no key; expected letters, digits and '_' before the '='", key);
    else if (before)
        refuse(reader, "duplicate key '%s' in [%s]; it was set on line %d already: remove one", key, section,
               before->line);
    if (reader->status != GYRE_OK)
        return;
    const char *kept_section = text_keep(reader, section, strlen(section));
    const char *kept_key = text_keep(reader, key, strlen(key));
    const char *kept_value = text_keep(reader, value, strlen(value));
    if (reader->status == GYRE_OK)
        add_entry(reader, kept_section, kept_key, kept_value);
}

/* Called by inih for each setting; nonzero: go on. After an error, settings that inih still reports are ignored. */
static int setting_handle(void *user, const char *section, const char *key, const char *value)
{
    struct reader *reader = user;
    if (reader->status == GYRE_OK)
        take_setting(reader, section, key, value);
    return reader->status == GYRE_OK;
}

gyre_status gyre_ini_file_parse(const char *path, const char *bytes, size_t size, struct gyre_pool *pool,
                                struct gyre_ini_file *out)
{
    size_t mark = gyre_ini_text_mark(bytes, size);
    *out = (struct gyre_ini_file){.entries = NULL, .count = 0};
    gyre_status status = gyre_ini_text_check(path, bytes + mark, size - mark);
    if (gyre_ini_text_mark(bytes + mark, size - mark) >
        0) /* inih would skip the mark, and read an unchecked line */
        status = gyre_error_set(GYRE_CONFIG, "%s:1: has two byte order marks; remove one", path);
    if (status != GYRE_OK)
        return status;
    struct reader reader = {
        .path = path, .at = bytes + mark, .end = bytes + size, .status = GYRE_OK, .pool = pool, .file = out};
    int result = ini_parse_stream(next_line, &reader, setting_handle, &reader);
    status = reader.status;
    if (status == GYRE_OK && result > 0)
        status = gyre_error_set(GYRE_CONFIG, "%s:%d: is neither [section] nor 'key = value'", path, result);
    else if (status == GYRE_OK && result < 0)
        status = no_memory(path);
    return status;
}

gyre_status gyre_ini_file_read(const char *path, struct gyre_pool *pool, struct gyre_ini_file *out)
{
    char *bytes;
    size_t size;
    *out = (struct gyre_ini_file){.entries = NULL, .count = 0};
    gyre_status status = gyre_ini_text_read(path, &bytes, &size);
    if (status == GYRE_OK)
        status = gyre_ini_file_parse(path, bytes, size, pool, out);
    free(bytes);
    return status;
}
