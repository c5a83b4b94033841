/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Includes of a unit, and the compiler's messages. No state; a search belongs to its call. Whatever the texts
 * hold, paths too long or unreadable files are left out of the list: the compiler then fails on them itself.
 */
#include "cuda_source.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *cuda_read_text(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0, used = 0;
    if (!file)
        return NULL;
    for (;;) {
        if (size - used < 2) {
            char *grown = realloc(text, size = size ? 2 * size : 32 * 1024);
            if (!grown)
                break;
            text = grown;
        }
        size_t count = fread(text + used, 1, size - used - 1, file);
        used += count;
        if (count == 0) {
            text[used] = '\0';
            if (ferror(file))
                break;
            fclose(file);
            return text;
        }
    }
    free(text);
    fclose(file);
    errno = EIO;
    return NULL;
}

/* ---- includes ---- */

struct search {
    const char *const *folders;
    char **paths; /* found so far; those from `next` on were not read yet */
    size_t count, room, next;
    bool exhausted, unreadable;
};

static void add_path(struct search *search, const char *path)
{
    for (size_t i = 0; i < search->count; i++)
        if (strcmp(search->paths[i], path) == 0)
            return;
    if (search->count == search->room) {
        size_t room = search->room ? 2 * search->room : 64;
        char **grown = realloc(search->paths, room * sizeof *grown);
        search->exhausted = search->exhausted || !grown;
        if (!grown)
            return;
        search->paths = grown;
        search->room = room;
    }
    char *copy = strdup(path);
    search->exhausted = search->exhausted || !copy;
    if (copy)
        search->paths[search->count++] = copy;
}

/* Adds FOLDER/NAME when there is such a file;
 * paths are made canonical, so that each file stands there once. */
static bool try_folder(struct search *search, const char *folder, int folder_length, const char *name)
{
    char path[PATH_MAX], real[PATH_MAX];
    int length = name[0] == '/' ? snprintf(path, sizeof path, "%s", name)
                                : snprintf(path, sizeof path, "%.*s/%s", folder_length, folder, name);
    if (length < 0 || (size_t)length >= sizeof path || access(path, R_OK) != 0 || !realpath(path, real))
        return false;
    add_path(search, real);
    return true;
}

/* Beside the including file first, as "NAME" asks for; <NAME> finds only more than it should. */
static void find_file(struct search *search, const char *includer, const char *name)
{
    const char *slash = strrchr(includer, '/');
    if (slash && try_folder(search, includer, (int)(slash - includer), name))
        return;
    for (size_t i = 0; search->folders && search->folders[i]; i++)
        if (try_folder(search, search->folders[i], (int)strlen(search->folders[i]), name))
            return;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* The name in an #include line, or false. */
static bool read_include(const char *line, char *name, size_t size)
{
    line = skip_blanks(line);
    if (*line != '#')
        return false;
    line = skip_blanks(line + 1);
    if (strncmp(line, "include", strlen("include")) != 0)
        return false;
    line = skip_blanks(line + strlen("include"));
    const char *ends = *line == '"' ? "\"\n" : *line == '<' ? ">\n" : NULL;
    if (!ends)
        return false;
    size_t length = strcspn(line + 1, ends);
    return (size_t)snprintf(name, size, "%.*s", (int)length, line + 1) < size;
}

static void scan(struct search *search, const char *text, const char *path)
{
    char name[PATH_MAX];
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (read_include(line, name, sizeof name))
            find_file(search, path, name);
    }
}

static bool write_list(const struct search *search, const char *list_path)
{
    FILE *list = fopen(list_path, "we");
    if (!list)
        return false;
    for (size_t i = 0; i < search->count; i++)
        fprintf(list, "%s\n", search->paths[i]);
    bool fine = !ferror(list);
    return fclose(list) == 0 && fine;
}

/* Reads every file once; `visit` gets each text. */
static void search_includes(struct search *search, const char *unit, const char *unit_path,
                            const char *entry_header, void (*visit)(const char *text, uint64_t *digest),
                            uint64_t *digest)
{
    scan(search, unit, unit_path);
    find_file(search, "", entry_header);
    while (search->next < search->count) {
        const char *path = search->paths[search->next++];
        char *text = cuda_read_text(path);
        search->unreadable = search->unreadable || !text;
        if (text)
            scan(search, text, path);
        if (text && visit)
            visit(text, digest);
        free(text);
    }
}

static void forget_paths(struct search *search)
{
    for (size_t i = 0; i < search->count; i++)
        free(search->paths[i]);
    free(search->paths);
}

bool cuda_dependencies_write(const char *unit, const char *unit_path, const char *entry_header,
                             const char *const *folders, const char *list_path)
{
    struct search search = {.folders = folders};
    search_includes(&search, unit, unit_path, entry_header, NULL, NULL);
    bool fine = !search.exhausted && write_list(&search, list_path);
    const int error = search.exhausted ? ENOMEM : errno;
    forget_paths(&search);
    errno = error;
    return fine;
}

/* FNV-1a. */
static void add_to_digest(const char *text, uint64_t *digest)
{
    for (; *text; text++)
        *digest = (*digest ^ (unsigned char)*text) * 0x100000001b3u;
}

bool cuda_includes_digest(const char *unit, const char *entry_header, const char *const *folders,
                          uint64_t *digest)
{
    struct search search = {.folders = folders};
    *digest = 0xcbf29ce484222325u;
    search_includes(&search, unit, "", entry_header, add_to_digest, digest);
    bool fine = !search.exhausted && !search.unreadable && search.count > 0;
    forget_paths(&search);
    return fine;
}

/* ---- messages ---- */

/* "FILE(LINE): error: text" becomes "FILE:LINE: text"; false when the line is none. */
static bool read_located(const char *line, const char *end, char *sentence, size_t size)
{
    static const char *const labels[] = {": error: ", ": catastrophic error: ", ": error #"};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        const char *label = strstr(line, labels[i]);
        if (!label || label >= end || label == line || label[-1] != ')')
            continue;
        const char *open = label - 1;
        while (open > line && isdigit((unsigned char)open[-1]))
            open--;
        if (open == line || open[-1] != '(')
            continue;
        const char *text = label + strlen(labels[i]);
        if (text[-1] == '#') /* a diagnostic's number, up to the next ": " */
            text = strstr(text, ": ") && strstr(text, ": ") < end ? strstr(text, ": ") + 2 : text;
        snprintf(sentence, size, "%.*s:%.*s: %.*s", (int)(open - 1 - line), line, (int)(label - 1 - open),
                 open, (int)(end - text), text);
        return true;
    }
    return false;
}

static const char *line_end(const char *line)
{
    return line + strcspn(line, "\n");
}

static const char *next_line(const char *line)
{
    const char *end = line_end(line);
    return *end ? end + 1 : NULL;
}

/* First an error with a place; then one of the assembler or of NVRTC itself. */
void cuda_first_error(const char *log, char *sentence, size_t size)
{
    sentence[0] = '\0';
    for (const char *line = log; line; line = next_line(line))
        if (read_located(line, line_end(line), sentence, size))
            return;
    for (const char *line = log; line; line = next_line(line)) {
        const char *found = strstr(line, "error");
        if (found && found < line_end(line)) {
            snprintf(sentence, size, "%.*s", (int)(line_end(line) - line), line);
            return;
        }
    }
}
