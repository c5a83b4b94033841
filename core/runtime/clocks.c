/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points out what makes a handler with checkpoints indeterministic: the names of clocks in its source,
 * outside comments and texts. Files that it includes are not looked at. No locks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/runtime/checkpoint.h"

enum { SOURCE_MAX = 1 << 20 };

/* The file of "FILE" or "FILE:KERNEL", as far as it is read; NULL: there is none, or it is no text. */
static char *read_source(const char *source)
{
    char path[4096];
    const char *colon = strrchr(source, ':');
    snprintf(path, sizeof path, "%s", source);
    FILE *file = fopen(path, "re");
    if (!file && colon && (size_t)(colon - source) < sizeof path) {
        path[colon - source] = '\0';
        file = fopen(path, "re");
    }
    char *text = file ? malloc(SOURCE_MAX + 1) : NULL;
    if (text)
        text[fread(text, 1, SOURCE_MAX, file)] = '\0';
    if (file)
        fclose(file);
    return text;
}

/* Behind a comment or a literal that begins here; NULL: none does. */
static char *skip_quoted(char *at)
{
    char *end = NULL;
    if (at[0] == '/' && at[1] == '*')
        end = strstr(at + 2, "*/");
    else if (at[0] == '/' && at[1] == '/')
        end = strchr(at, '\n');
    else if (at[0] == '"' || at[0] == '\'')
        for (end = at + 1; *end && *end != at[0]; end++)
            end += *end == '\\' && end[1];
    else
        return NULL;
    return end && *end ? end + 1 : at + strlen(at);
}

static void blank(char *text)
{
    while (*text) {
        char *end = skip_quoted(text);
        if (end)
            memset(text, ' ', (size_t)(end - text));
        text = end ? end : text + 1;
    }
}

void gyre_checkpoints_point_out(const gyre_kernel *kernel, const char *source)
{
    static const char *const clocks[] = {"gyre_time_ns", "gyre_header_sent"};
    char *text = kernel->checkpoints ? read_source(source) : NULL;
    if (!text)
        return;
    blank(text);
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++)
        if (strstr(text, clocks[i]))
            gyre_runtime_log(kernel->runtime, GYRE_LOG_WARNING,
                             "kernel '%s' has checkpoints, and its source uses %s: "
                             "a handler whose replies or state depend on it is not as if "
                             "nothing had happened after a crash; take the time from the message",
                             kernel->name, clocks[i]);
    free(text);
}
