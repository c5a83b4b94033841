/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what the C compiler leaves behind: its messages, and the make rule of the files it read. No state. */
#include "solo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The labels that gcc and clang put before an error, and what their linkers say without one. */
static const char *const labels[] = {": fatal error: ", ": error: ", "undefined reference",
                                     "undefined symbol"};

static bool tell(const char *line, size_t length, char *sentence, size_t size)
{
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        const char *label = memmem(line, length, labels[i], strlen(labels[i]));
        if (!label)
            continue;
        if (labels[i][0] == ':') { /* without the label: FILE:LINE: text */
            const char *text = label + strlen(labels[i]);
            snprintf(sentence, size, "%.*s: %.*s", (int)(label - line), line, (int)(line + length - text),
                     text);
        } else {
            snprintf(sentence, size, "%.*s", (int)length, line);
        }
        return true;
    }
    return false;
}

void solo_first_error(const char *output, char *sentence, size_t size)
{
    sentence[0] = '\0';
    while (*output) {
        size_t length = strcspn(output, "\n");
        if (tell(output, length, sentence, size))
            return;
        output += length + (output[length] == '\n');
    }
}

/*
 * The rule reads "TARGET: PATH PATH \<newline> PATH". Within a path, a blank or a # has a backslash before it
 * and a $ is doubled.
 */
static void write_paths(FILE *rule, FILE *list)
{
    int last = '\n';
    for (int c = getc(rule); c != EOF; c = getc(rule)) {
        if (c == '\\' || c == '$') {
            c = getc(rule); /* a newline after a backslash separates, everything else is part of the path */
            if (c == '\n')
                c = ' ';
            else {
                putc(c, list);
                last = c;
                continue;
            }
        }
        if (c == ' ' || c == '\n')
            c = '\n';
        if (c != '\n' || last != '\n')
            putc(c, list);
        last = c;
    }
}

static bool skip_target(FILE *rule)
{
    int last = 0;
    for (int c = getc(rule); c != EOF; last = c, c = getc(rule))
        if (last == ':' && (c == ' ' || c == '\n'))
            return true;
    errno = EINVAL;
    return false;
}

bool solo_list_dependencies(const char *rule_path, const char *list_path)
{
    FILE *rule = fopen(rule_path, "re");
    FILE *list = rule ? fopen(list_path, "we") : NULL;
    bool fine = list && skip_target(rule);
    if (fine) {
        write_paths(rule, list);
        fine = !ferror(rule) && !ferror(list);
    }
    if (list)
        fine = fclose(list) == 0 && fine;
    if (rule)
        fclose(rule);
    return fine;
}
