/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts a unit and its headers into one text. Goes by the #include lines outside comments alone. It also
 * includes files in lines that a condition leaves out: the condition then leaves out more text. So a file may
 * come in several times, but not into itself; its guard leaves all but one empty. `#pragma once`, which means
 * nothing within one text, becomes such a guard. No state; a run belongs to one call.
 */
#include "backends/opencl/compile/opencl_source.h"

#include "backends/device/device_text.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH_MAX = 32 };

/* Headers of other dialects. They are not put into the text, because OpenCL C never reads them. */
static const char *const foreign[] = {"gyre/dialect/c11.h", "gyre/dialect/cuda.h"};

struct run {
    FILE *out, *list;
    const char *const *folders;
    const char *open[DEPTH_MAX]; /* the files that include one another, the unit first */
    size_t depth;
    bool failed;
};

/* ---- where a file is ---- */

static bool try_folder(const char *folder, size_t folder_length, const char *name, char found[PATH_MAX])
{
    char path[PATH_MAX];
    int length = name[0] == '/' ? snprintf(path, sizeof path, "%s", name)
                                : snprintf(path, sizeof path, "%.*s/%s", (int)folder_length, folder, name);
    return length > 0 && (size_t)length < sizeof path && access(path, R_OK) == 0 && realpath(path, found);
}

/*
 * Looks for an included file, beside the including file first, as "NAME" asks for. For <NAME> that may find
 * too many files, never too few.
 */
static bool find_file(const struct run *run, const char *includer, const char *name, char found[PATH_MAX])
{
    const char *slash = strrchr(includer, '/');
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        if (strcmp(name, foreign[i]) == 0)
            return false;
    if (slash && try_folder(includer, (size_t)(slash - includer), name, found))
        return true;
    for (size_t i = 0; run->folders && run->folders[i]; i++)
        if (try_folder(run->folders[i], strlen(run->folders[i]), name, found))
            return true;
    return false;
}

static bool is_open(const struct run *run, const char *path)
{
    for (size_t i = 0; i < run->depth; i++)
        if (strcmp(run->open[i], path) == 0)
            return true;
    return false;
}

/* ---- directives ---- */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Returns the text behind the directive's name, or NULL when the line is no such directive. */
static const char *find_directive(const char *line, const char *name)
{
    line = skip_blanks(line);
    if (*line != '#')
        return NULL;
    line = skip_blanks(line + 1);
    size_t length = strlen(name);
    return strncmp(line, name, length) == 0 ? skip_blanks(line + length) : NULL;
}

/*
 * Copies the text between the mark at `at` and the mark `end` of the same line. False when there is no such
 * text.
 */
static bool read_quoted(const char *at, char end, char *text, size_t size)
{
    const char *stop = strchr(at + 1, end), *line_end = at + strcspn(at, "\n");
    if (!stop || stop > line_end || (size_t)(stop - at - 1) >= size)
        return false;
    snprintf(text, size, "%.*s", (int)(stop - at - 1), at + 1);
    return true;
}

/* Reads the name in an #include line. False when the line is no #include. */
static bool read_include(const char *line, char *name, size_t size)
{
    const char *at = find_directive(line, "include");
    if (!at || (*at != '"' && *at != '<'))
        return false;
    return read_quoted(at, *at == '<' ? '>' : '"', name, size);
}

/* Reads `#line N "FILE"`, by which the unit gives the place of its following lines. */
static void read_line(const char *line, unsigned long *number, char path[PATH_MAX])
{
    const char *at = find_directive(line, "line");
    char *end;
    if (!at)
        return;
    unsigned long told = strtoul(at, &end, 10);
    if (end == at)
        return;
    *number = told - 1; /* the next line is line N */
    at = skip_blanks(end);
    if (*at == '"')
        read_quoted(at, '"', path, PATH_MAX);
}

/* Returns the text behind `#pragma once` in its line, or NULL when the line is no such pragma. */
static const char *behind_once(const char *line)
{
    const char *at = find_directive(line, "pragma");
    return at && strncmp(at, "once", 4) == 0 && !isalnum((unsigned char)at[4]) && at[4] != '_' ? at + 4
                                                                                               : NULL;
}

/* Whether the text after this line is inside a comment. */
static bool ends_in_comment(const char *line, const char *end, bool inside)
{
    char quote = 0;
    for (; line < end; line++) {
        const bool two = line + 1 < end;
        if (inside) {
            if (two && line[0] == '*' && line[1] == '/') {
                inside = false;
                line++;
            }
        } else if (quote) {
            if (*line == '\\')
                line++;
            else if (*line == quote)
                quote = 0;
        } else if (two && line[0] == '/' && line[1] == '*') {
            inside = true;
            line++;
        } else if (two && line[0] == '/' && line[1] == '/') {
            return false;
        } else if (*line == '"' || *line == '\'') {
            quote = *line;
        }
    }
    return inside;
}

static void write_line(const struct run *run, unsigned long number, const char *path)
{
    fprintf(run->out, "#line %lu \"", number);
    for (; *path; path++)
        fprintf(run->out, *path == '"' || *path == '\\' ? "\\%c" : "%c", *path);
    fputs("\"\n", run->out);
}

/* Returns the number in the macro that marks the file as read (FNV-1a of its path). */
static unsigned long long once_name(const char *path)
{
    unsigned long long name = 0xcbf29ce484222325u;
    for (; *path; path++)
        name = (name ^ (unsigned char)*path) * 0x100000001b3u;
    return name;
}

/* ---- the text ---- */

static void write_file(struct run *run, const char *path);

/* Includes the file if the line is an #include of a file that exists; returns whether it is. */
static bool include_file(struct run *run, const char *line, const char *includer)
{
    char name[PATH_MAX], path[PATH_MAX];
    if (!read_include(line, name, sizeof name) || !find_file(run, includer, name, path))
        return false;
    if (is_open(run, path))
        return true; /* the file's guard would leave it empty */
    if (run->depth == DEPTH_MAX)
        return false;
    if (run->list)
        fprintf(run->list, "%s\n", path);
    write_file(run, path);
    return true;
}

static bool is_read_once(const char *text)
{
    bool comment = false;
    for (const char *line = text; *line;) {
        const char *end = line + strcspn(line, "\n");
        if (!comment && behind_once(line))
            return true;
        comment = ends_in_comment(line, end, comment);
        line = *end ? end + 1 : end;
    }
    return false;
}

/*
 * Writes a line as it is. `#pragma once` becomes a guard with the same effect: where a condition leaves it
 * out, the guard is not set.
 */
static void write_plain(const struct run *run, const char *line, const char *end, bool comment)
{
    const char *behind = comment ? NULL : behind_once(line);
    if (behind && run->depth > 1) /* in the unit the pragma does nothing */
        fprintf(run->out, "#define GYRE_ONCE_%016llx", once_name(run->open[run->depth - 1]));
    line = behind ? behind : line;
    fwrite(line, 1, (size_t)(end - line), run->out);
    fputc('\n', run->out);
}

static void write_text(struct run *run, const char *text, const char *known_as)
{
    char path[PATH_MAX];
    unsigned long number = 1;
    bool comment = false;
    snprintf(path, sizeof path, "%s", known_as);
    for (const char *line = text; *line && !run->failed; number++) {
        const char *end = line + strcspn(line, "\n");
        if (!comment && include_file(run, line, path)) {
            write_line(run, number + 1, path);
        } else {
            if (!comment)
                read_line(line, &number, path);
            write_plain(run, line, end, comment);
        }
        comment = ends_in_comment(line, end, comment);
        line = *end ? end + 1 : end;
    }
}

/*
 * Writes a file's text. While only the unit is open, its own #line directives give the places of its lines.
 */
static void write_file(struct run *run, const char *path)
{
    char *text = device_text_read(path);
    const bool header = run->depth > 0, once = header && text && is_read_once(text);
    run->failed = run->failed || !text;
    if (!text)
        return;
    run->open[run->depth++] = path;
    if (once)
        fprintf(run->out, "#ifndef GYRE_ONCE_%016llx\n", once_name(path));
    if (header)
        write_line(run, 1, path);
    write_text(run, text, path);
    if (once)
        fputs("#endif\n", run->out);
    run->depth--;
    free(text);
}

char *opencl_source_flatten(const char *unit_path, const char *const *folders, const char *list_path)
{
    struct run run = {.folders = folders};
    char *text = NULL;
    size_t size = 0;
    run.list = list_path ? fopen(list_path, "we") : NULL;
    run.out = list_path && !run.list ? NULL : open_memstream(&text, &size);
    if (run.out) {
        write_file(&run, unit_path);
        run.failed = ferror(run.out) || run.failed;
        run.failed = fclose(run.out) != 0 || run.failed;
    }
    if (run.list)
        run.failed = fclose(run.list) != 0 || run.failed;
    if (run.out && !run.failed)
        return text;
    free(text);
    return NULL;
}

/* ---- messages ---- */

static const char *line_end(const char *line)
{
    return line + strcspn(line, "\n");
}

static const char *next_line(const char *line)
{
    const char *end = line_end(line);
    return *end ? end + 1 : end;
}

/* Returns the length of FILE:LINE in a text that ends with FILE:LINE or FILE:LINE:COLUMN, or 0. */
static size_t place_length(const char *text, const char *end)
{
    const char *at = end;
    size_t found = 0;
    for (int numbers = 0; numbers < 2; numbers++) {
        const char *digits = at;
        while (digits > text && digits[-1] >= '0' && digits[-1] <= '9')
            digits--;
        if (digits == at || digits == text || digits[-1] != ':' || digits - 1 == text)
            break;
        found = (size_t)(at - text);
        at = digits - 1;
    }
    return found;
}

/* Reads an error in the form of clang: "FILE:LINE:COLUMN: error: text". */
static bool read_behind(const char *line, const char *end, char *sentence, size_t size)
{
    static const char *const labels[] = {": error: ", ": fatal error: "};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        const char *label = strstr(line, labels[i]);
        size_t length = label && label < end ? place_length(line, label) : 0;
        if (!length)
            continue;
        const char *text = label + strlen(labels[i]);
        snprintf(sentence, size, "%.*s: %.*s", (int)length, line, (int)(end - text), text);
        return true;
    }
    return false;
}

/*
 * Reads an error in the form of PoCL: "error: FILE:LINE:COLUMN: text"; <Spelling=...> gives the macro behind
 * the place.
 */
static bool read_before(const char *line, const char *end, char *sentence, size_t size)
{
    static const char *const labels[] = {"error: ", "fatal error: "};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        size_t label = strlen(labels[i]);
        if (strncmp(line, labels[i], label) != 0)
            continue;
        const char *place = line + label;
        for (const char *at = strstr(place, ": "); at && at < end; at = strstr(at + 1, ": ")) {
            const char *place_end = at;
            const char *spelling = strstr(place, " <Spelling=");
            if (spelling && spelling < at)
                place_end = spelling;
            size_t length = place_length(place, place_end);
            if (!length)
                continue;
            snprintf(sentence, size, "%.*s: %.*s", (int)length, place, (int)(end - at - 2), at + 2);
            return true;
        }
    }
    return false;
}

/*
 * Reads an error without a place. If the line ends with a colon, the next line has the rest, as in errors of
 * PoCL's linker.
 */
static bool read_anywhere(const char *line, char *sentence, size_t size)
{
    const char *end = line_end(line), *found = strcasestr(line, "error");
    if (!found || found >= end)
        return false;
    while (end > line && end[-1] == ' ')
        end--;
    const char *rest = end[-1] == ':' ? next_line(line) : "";
    snprintf(sentence, size, "%.*s%s%.*s", (int)(end - line), line, *rest ? " " : "",
             (int)(line_end(rest) - rest), rest);
    return true;
}

static void find_error(const char *log, char *sentence, size_t size)
{
    sentence[0] = '\0';
    for (const char *line = log; *line; line = next_line(line))
        if (read_behind(line, line_end(line), sentence, size) ||
            read_before(line, line_end(line), sentence, size))
            return;
    for (const char *line = log; *line; line = next_line(line))
        if (read_anywhere(line, sentence, size))
            return;
}

/* Finds the file and line of line number `wanted` of the text. False when the text is shorter. */
static bool find_place(const char *source, unsigned long wanted, char path[PATH_MAX], unsigned long *number)
{
    unsigned long at = 1, here = 1;
    path[0] = '\0';
    for (const char *line = source; *line && at < wanted; line = next_line(line), at++, here++)
        read_line(line, &here, path);
    *number = here;
    return at == wanted && path[0];
}

void opencl_first_error(const char *source, const char *log, char *sentence, size_t size)
{
    static const char whole[] = "<kernel>:"; /* NVIDIA's name of the text */
    char path[PATH_MAX], *end, *found;
    unsigned long number;
    find_error(log, sentence, size);
    if (strncmp(sentence, whole, sizeof whole - 1) != 0)
        return;
    const unsigned long line = strtoul(sentence + sizeof whole - 1, &end, 10);
    if (!find_place(source, line, path, &number) || !(found = strdup(end)))
        return;
    snprintf(sentence, size, "%s:%lu%s", path, number, found);
    free(found);
}
