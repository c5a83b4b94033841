/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warns when a handler with checkpoints reads a clock, because its replies may then differ when requests are handled again.
 * Looks for the names of Gyre's clocks in the source, and in included files beside it, outside comments and strings. The
 * dialect's check refuses all other clocks, random numbers and static variables. Takes no lock.
 */
#include "core/durability/clocks.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCE_MAX = 1 << 20, FILES_MAX = 64 };

/* The files that the search has seen already. */
struct seen {
    size_t count;
    struct {
        dev_t device;
        ino_t inode;
    } files[FILES_MAX];
};

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = file ? malloc(SOURCE_MAX + 1) : NULL;
    if (text)
        text[fread(text, 1, SOURCE_MAX, file)] = '\0';
    if (file)
        fclose(file);
    return text;
}

/* Writes the path FILE of a source that is named "FILE" or "FILE:KERNEL". */
static void find_source(const char *source, char path[PATH_MAX])
{
    char *colon;
    snprintf(path, PATH_MAX, "%s", source);
    colon = strrchr(path, ':');
    if (colon && access(path, R_OK) != 0)
        *colon = '\0';
}

/* The end of the comment or literal that begins at `at`; NULL: none begins there. */
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

static void look_at_file(const gyre_kernel *kernel, const char *path, struct seen *seen);

/* Searches each file that the file at `path`, with the content `text`, includes with quotes and that lies beside it. */
static void look_at_includes(const gyre_kernel *kernel, const char *path, const char *text, struct seen *seen)
{
    const char *slash = strrchr(path, '/');
    const int folder = slash ? (int)(slash - path) + 1 : 0;
    for (const char *at = text; (at = strstr(at, "include")) != NULL;) {
        char name[256], included[PATH_MAX];
        at += strlen("include");
        if (sscanf(at, " \"%255[^\"\n]\"", name) != 1)
            continue;
        int length = snprintf(included, sizeof included, "%.*s%s", folder, path, name);
        if (length > 0 && (size_t)length < sizeof included)
            look_at_file(kernel, included, seen);
    }
}

static bool is_new(struct seen *seen, const char *path)
{
    struct stat file;
    if (stat(path, &file) != 0 || seen->count == FILES_MAX)
        return false;
    for (size_t i = 0; i < seen->count; i++)
        if (seen->files[i].inode == file.st_ino && seen->files[i].device == file.st_dev)
            return false;
    seen->files[seen->count].device = file.st_dev;
    seen->files[seen->count++].inode = file.st_ino;
    return true;
}

static void look_at_file(const gyre_kernel *kernel, const char *path, struct seen *seen)
{
    static const char *const clocks[] = {"gyre_time_ns", "gyre_header_sent"};
    char *text = is_new(seen, path) ? read_text(path) : NULL;
    if (!text)
        return;
    look_at_includes(kernel, path, text, seen);
    blank(text);
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++)
        if (strstr(text, clocks[i]))
            gyre_runtime_log(kernel->runtime, GYRE_LOG_WARNING,
                             "kernel '%s' has checkpoints, and its source uses %s (%s): "
                             "a handler whose replies or state depend on it is not as if "
                             "nothing had happened after a crash; take the time from the message",
                             kernel->name, clocks[i], path);
    free(text);
}

void gyre_checkpoints_point_out(const gyre_kernel *kernel, const char *source)
{
    char path[PATH_MAX];
    struct seen seen = {.count = 0};
    if (!kernel->checkpoints)
        return;
    find_source(source, path);
    look_at_file(kernel, path, &seen);
}
