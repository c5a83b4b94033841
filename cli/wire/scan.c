/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds every GYRE_WIRE in source files, outside comments and literals. The macro's arguments must be a name and string
 * literals. Runs no preprocessor, so a GYRE_WIRE that #if leaves out counts as well.
 */
#include "cli/wire/description.h"
#include "cli/wire/pack.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "gyre/lack.h"

enum { FILES_MAX = 64, FILE_SIZE_MAX = 4 << 20, TEXT_SIZE = 4096, NAME_SIZE = 128 };

typedef struct scan_state {
    gyre_pack *wire;
    char *files[FILES_MAX]; /* read already, or being read */
    size_t file_count;
} scan_state;

typedef struct scan_source {
    const char *path;
    const char *text, *at;
} scan_source;

static gyre_status scan_file(scan_state *scanner, const char *path);

static int line_of(const scan_source *source)
{
    int line = 1;
    for (const char *at = source->text; at < source->at; at++)
        line += *at == '\n';
    return line;
}

/* ---- words ---- */

static void skip_literal(scan_source *source)
{
    char quote = *source->at++;
    while (*source->at && *source->at != quote && *source->at != '\n')
        source->at += source->at[0] == '\\' && source->at[1] ? 2 : 1;
    source->at += *source->at == quote;
}

/* True when a comment, a line's end behind a backslash or white space was skipped. */
static bool skip_space(scan_source *source)
{
    const char *at = source->at, *end;
    if (isspace((unsigned char)*at) || (at[0] == '\\' && at[1] == '\n')) {
        source->at++;
    } else if (at[0] == '/' && at[1] == '*') {
        end = strstr(at + 2, "*/");
        source->at = end ? end + 2 : at + strlen(at);
    } else if (at[0] == '/' && at[1] == '/') {
        source->at += strcspn(at, "\n");
    } else {
        return false;
    }
    return true;
}

static bool expect_character(scan_source *source, char character)
{
    while (skip_space(source))
        ;
    if (*source->at != character)
        return false;
    source->at++;
    return true;
}

static size_t word_length(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_')
        length++;
    return length;
}

static bool take_name(scan_source *source, char *name, size_t size)
{
    while (skip_space(source))
        ;
    size_t length = word_length(source->at);
    if (length == 0 || length >= size)
        return false;
    memcpy(name, source->at, length);
    name[length] = '\0';
    source->at += length;
    return true;
}

/* Takes one or more string literals that follow each other. They hold no escapes. */
static bool take_text(scan_source *source, char *text, size_t size)
{
    size_t used = 0, pieces = 0;
    while (expect_character(source, '"')) {
        size_t length = strcspn(source->at, "\"\\\n");
        if (source->at[length] != '"' || length >= size - used)
            return false;
        memcpy(text + used, source->at, length);
        used += length;
        source->at += length + 1;
        pieces++;
    }
    text[used] = '\0';
    return pieces > 0;
}

/* ---- what is looked for ---- */

static gyre_status take_description(scan_state *scanner, scan_source *source)
{
    char name[NAME_SIZE], text[TEXT_SIZE];
    int line = line_of(source);
    if (!expect_character(source, '(') || !take_name(source, name, sizeof name) ||
        !expect_character(source, ',') || !take_text(source, text, sizeof text) ||
        !expect_character(source, ')'))
        return gyre_error_set(GYRE_INVALID, "%s:%d: expected GYRE_WIRE(type, \"word=value ...\")",
                              source->path, line);
    gyre_status status = gyre_pack_add(scanner->wire, name, text);
    return status == GYRE_OK ? status : gyre_error_add(status, "%s:%d", source->path, line);
}

/* Scans an included file that lies beside its includer. Ignores another file: the compiler finds it along its search paths. */
static gyre_status take_include(scan_state *scanner, scan_source *source)
{
    char path[PATH_MAX], absolute[PATH_MAX], name[NAME_SIZE * 2];
    const char *slash = strrchr(source->path, '/');
    int folder = slash ? (int)(slash - source->path) + 1 : 0;
    while (*source->at == ' ' || *source->at == '\t')
        source->at++;
    if (*source->at != '"' || !take_text(source, name, sizeof name))
        return GYRE_OK;
    int length = snprintf(path, sizeof path, "%.*s%s", folder, source->path, name);
    if (length >= (int)sizeof path || !realpath(path, absolute))
        return GYRE_OK;
    return scan_file(scanner, absolute);
}

/* Takes a directive ('#' at the start of a line). Skips a #define, in which GYRE_WIRE may be a parameter's name. */
static gyre_status take_directive(scan_state *scanner, scan_source *source)
{
    source->at++;
    source->at += strspn(source->at, " \t");
    size_t length = word_length(source->at);
    bool includes = length == 7 && !strncmp(source->at, "include", length);
    bool defines = length == 6 && !strncmp(source->at, "define", length);
    source->at += length;
    if (includes)
        return take_include(scanner, source);
    while (defines && *source->at && *source->at != '\n')
        source->at += source->at[0] == '\\' && source->at[1] ? 2 : 1;
    return GYRE_OK;
}

static gyre_status scan_text(scan_state *scanner, scan_source *source)
{
    static const char WORD[] = "GYRE_WIRE";
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && *source->at) {
        if (skip_space(source))
            continue;
        size_t length = word_length(source->at);
        bool is_description = length == sizeof WORD - 1 && !strncmp(source->at, WORD, length);
        if (length > 0)
            source->at += length;
        if (is_description)
            status = take_description(scanner, source);
        else if (length == 0 && (*source->at == '"' || *source->at == '\''))
            skip_literal(source);
        else if (length == 0 && *source->at == '#')
            status = take_directive(scanner, source);
        else if (length == 0)
            source->at++;
    }
    return status;
}

/* ---- files ---- */

static gyre_status read_file(const char *path, char **text)
{
    FILE *file = fopen(path, "re");
    *text = file ? malloc(FILE_SIZE_MAX + 1) : NULL;
    if (!*text) {
        gyre_status status = gyre_error_set(gyre_lack_status(errno, GYRE_NOT_FOUND), "cannot read '%s': %s%s",
                                            path, strerror(errno), gyre_lack_remedy(errno));
        if (file)
            fclose(file);
        return status;
    }
    size_t length = fread(*text, 1, FILE_SIZE_MAX, file);
    (*text)[length] = '\0';
    int failure = ferror(file) ? errno : 0;
    fclose(file);
    if (failure == 0 && length < FILE_SIZE_MAX) {
        char *shorter = realloc(*text, length + 1);
        if (shorter)
            *text = shorter;
        return GYRE_OK;
    }
    free(*text);
    return gyre_error_set(GYRE_INVALID, "cannot read '%s': %s", path,
                          failure ? strerror(failure) : "it is larger than 4 MiB");
}

static gyre_status scan_file(scan_state *scanner, const char *path)
{
    char *text;
    for (size_t i = 0; i < scanner->file_count; i++)
        if (!strcmp(scanner->files[i], path))
            return GYRE_OK;
    if (scanner->file_count == FILES_MAX)
        return gyre_error_set(GYRE_INVALID, "'%s': more than %d files include one another", path, FILES_MAX);
    scanner->files[scanner->file_count] = strdup(path);
    if (!scanner->files[scanner->file_count])
        return gyre_error_set(GYRE_EXHAUSTED, "out of memory for the path of a file");
    scanner->file_count++;
    gyre_status status = read_file(path, &text);
    if (status != GYRE_OK)
        return status;
    scan_source source = {.path = path, .text = text, .at = text};
    status = scan_text(scanner, &source);
    free(text);
    return status;
}

gyre_status gyre_pack_scan(gyre_pack *wire, const char *path)
{
    char absolute[PATH_MAX];
    scan_state scanner = {.wire = wire};
    if (!realpath(path, absolute))
        return gyre_error_set(gyre_lack_status(errno, GYRE_NOT_FOUND), "cannot read '%s': %s", path,
                              strerror(errno));
    gyre_status status = scan_file(&scanner, absolute);
    for (size_t i = 0; i < scanner.file_count; i++)
        free(scanner.files[i]);
    return status;
}
