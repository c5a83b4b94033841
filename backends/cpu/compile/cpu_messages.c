/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the output of a C compiler: its messages, and the make rule with the files that it read. Works on
 * text alone; no state.
 */
#include "backends/cpu/compile/cpu_compiler.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "FILE:LINE:COLUMN: error: text" becomes "FILE:LINE: text". */
static void write_located(const char *line, const char *label, const char *text, char *sentence, size_t size)
{
    const char *end = label;
    while (end > line && (end[-1] == ' ' || end[-1] == ':'))
        end--;
    const char *column = end;
    while (column > line && isdigit((unsigned char)column[-1]))
        column--;
    if (column > line + 1 && column < end && column[-1] == ':' && isdigit((unsigned char)column[-2]))
        end = column - 1;
    int length = (int)strcspn(text, "\n");
    snprintf(sentence, size, "%.*s: %.*s", (int)(end - line), line, length, text);
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : NULL;
}

/* Returns where `needle` stands within the line, or NULL. */
static const char *in_line(const char *line, const char *needle)
{
    const char *found = strstr(line, needle);
    const char *end = strchr(line, '\n');
    return found && (!end || found < end) ? found : NULL;
}

static int try_line(const char *line, char *sentence, size_t size)
{
    static const char *const labels[] = {"fatal error: ", "error: ", "undefined reference to",
                                         "undefined symbol:"};
    if (in_line(line, "ld returned ") || in_line(line, "linker command failed"))
        return 0; /* a summary of the compiler's driver; the linker gave the reason before */
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        const char *label = in_line(line, labels[i]);
        if (!label)
            continue;
        /* the words of a linker are part of the reason, a compiler's label is not */
        write_located(line, label, i < 2 ? label + strlen(labels[i]) : label, sentence, size);
        return 1;
    }
    return 0;
}

/*
 * Takes an error of a compiler that speaks another language: the first "FILE:LINE:COLUMN: " that is followed
 * by text.
 */
static int try_translated_line(const char *line, char *sentence, size_t size)
{
    for (const char *at = in_line(line, ": "); at; at = in_line(at + 1, ": ")) {
        const char *digits = at;
        while (digits > line && isdigit((unsigned char)digits[-1]))
            digits--;
        if (digits == at || digits < line + 2 || digits[-1] != ':' || !isdigit((unsigned char)digits[-2]))
            continue;
        write_located(line, at, at + 2, sentence, size);
        return 1;
    }
    return 0;
}

/* Takes a line that a linker begins with its own name, as in "/usr/bin/ld: cannot find -lfoo". */
static int try_linker_line(const char *line, char *sentence, size_t size)
{
    const char *name = in_line(line, "ld: ");
    if (!name || name > line + strcspn(line, " \t") || in_line(line, "warning: "))
        return 0;
    snprintf(sentence, size, "%.*s", (int)strcspn(line, "\n"), line);
    return 1;
}

void cpu_first_error(const char *messages, char *sentence, size_t size)
{
    for (const char *line = messages; line; line = next_line(line))
        if (try_line(line, sentence, size))
            return;
    for (const char *line = messages; line; line = next_line(line))
        if (try_linker_line(line, sentence, size))
            return;
    for (const char *line = messages; line; line = next_line(line))
        if (try_translated_line(line, sentence, size))
            return;
    while (isspace((unsigned char)*messages))
        messages++;
    snprintf(sentence, size, "%.*s", (int)strcspn(messages, "\n"), messages);
}

/*
 * Copies one character of a path in a make rule, where escapes are "\ ", "\#" and "$$". Returns the place
 * after it.
 */
static const char *copy_path_character(const char *at, FILE *out)
{
    bool escaped = at[0] == '\\' && (at[1] == ' ' || at[1] == '#');
    if (escaped || (at[0] == '$' && at[1] == '$'))
        at++;
    fputc(*at, out);
    return at + 1;
}

static void write_paths(const char *at, FILE *out)
{
    while (*at) {
        while (isspace((unsigned char)*at) || (at[0] == '\\' && at[1] == '\n'))
            at++;
        if (!*at)
            break;
        while (*at && !isspace((unsigned char)*at))
            at = copy_path_character(at, out);
        fputc('\n', out);
    }
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    if (!file)
        return NULL;
    if (getdelim(&text, &size, '\0', file) < 0) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

bool cpu_dependencies_convert(const char *rule_path, const char *list_path)
{
    char *rule = read_text(rule_path);
    const char *paths = rule ? strstr(rule, ": ") : NULL;
    FILE *list = paths ? fopen(list_path, "we") : NULL;
    bool fine = false;
    if (list) {
        write_paths(paths + 2, list);
        fine = !ferror(list);
        fine = fclose(list) == 0 && fine;
    }
    free(rule);
    return fine;
}
