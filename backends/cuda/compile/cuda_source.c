/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the files of a compile, each once; finds the includes of a unit; reads the compiler's messages. A
 * search belongs to one call, and files belong to one compile. Paths that are too long and files that cannot
 * be read are left out of the list: the compiler then reports them itself.
 */
#include "backends/cuda/compile/cuda_source.h"

#include "backends/device/device_text.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ---- */

struct file {
    char *path, *text; /* text NULL: the file cannot be read */
};

struct folder {
    char *name, *real; /* real NULL: there is no such folder */
};

struct cuda_files {
    struct file *files;
    struct folder *folders;
    size_t file_count, folder_count;
    bool exhausted;
};

struct cuda_files *cuda_files_create(void)
{
    return calloc(1, sizeof(struct cuda_files));
}

void cuda_files_destroy(struct cuda_files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < files->file_count; i++) {
        free(files->files[i].path);
        free(files->files[i].text);
    }
    for (size_t i = 0; i < files->folder_count; i++) {
        free(files->folders[i].name);
        free(files->folders[i].real);
    }
    free(files->files);
    free(files->folders);
    free(files);
}

/*
 * The number of elements that an array of `count` elements grows to: a power of two, from 64 on; 0: there is
 * room left.
 */
static size_t grown_count(size_t count)
{
    return count == 0 ? 64 : count >= 64 && (count & (count - 1)) == 0 ? 2 * count : 0;
}

static bool add_file(struct cuda_files *files, const char *path)
{
    const size_t room = grown_count(files->file_count);
    struct file *larger = room ? realloc(files->files, room * sizeof *larger) : files->files;
    char *copy = larger ? strdup(path) : NULL;
    if (larger)
        files->files = larger;
    files->exhausted = files->exhausted || !copy;
    if (copy)
        files->files[files->file_count++] = (struct file){copy, device_text_read(path)};
    return copy != NULL;
}

/* Returns the file's text, which is read once; NULL when the file cannot be read. */
static const char *text_of(struct cuda_files *files, const char *path)
{
    for (size_t i = 0; i < files->file_count; i++)
        if (strcmp(files->files[i].path, path) == 0)
            return files->files[i].text;
    return add_file(files, path) ? files->files[files->file_count - 1].text : NULL;
}

/* Returns the canonical path of a folder, asking the system once; NULL when there is no such folder. */
static const char *real_folder(struct cuda_files *files, const char *name)
{
    char real[PATH_MAX];
    for (size_t i = 0; i < files->folder_count; i++)
        if (strcmp(files->folders[i].name, name) == 0)
            return files->folders[i].real;
    const size_t room = grown_count(files->folder_count);
    struct folder *larger = room ? realloc(files->folders, room * sizeof *larger) : files->folders;
    char *copy = larger ? strdup(name) : NULL;
    if (larger)
        files->folders = larger;
    files->exhausted = files->exhausted || !copy;
    if (!copy)
        return NULL;
    char *found = realpath(name[0] ? name : "/", real) ? strdup(real) : NULL;
    files->folders[files->folder_count++] = (struct folder){copy, found};
    return found;
}

/* ---- includes ---- */

struct search {
    struct cuda_files *files;
    const char *const *folders;
    char **paths; /* files found so far; from number `next` on they are not scanned yet */
    size_t count, room, next;
    bool exhausted;
};

static void add_path(struct search *search, const char *path)
{
    for (size_t i = 0; i < search->count; i++)
        if (strcmp(search->paths[i], path) == 0)
            return;
    if (search->count == search->room) {
        size_t room = search->room ? 2 * search->room : 64;
        char **larger = realloc(search->paths, room * sizeof *larger);
        search->exhausted = search->exhausted || !larger;
        if (!larger)
            return;
        search->paths = larger;
        search->room = room;
    }
    char *copy = strdup(path);
    search->exhausted = search->exhausted || !copy;
    if (copy)
        search->paths[search->count++] = copy;
}

/*
 * Adds FOLDER/NAME if there is such a file. The folder's path is made canonical, and so is a name with "..",
 * so that each file is listed once.
 */
static bool try_folder(struct search *search, const char *folder, const char *name)
{
    char path[PATH_MAX], real[PATH_MAX];
    const char *root = name[0] == '/' ? "" : real_folder(search->files, folder), *found = path;
    if (!root ||
        (size_t)snprintf(path, sizeof path, "%s%s%s", root, name[0] == '/' ? "" : "/", name) >= sizeof path)
        return false;
    if (name[0] == '/' || strstr(name, ".."))
        found = realpath(path, real);
    if (!found || !text_of(search->files, found))
        return false;
    add_path(search, found);
    return true;
}

/*
 * Looks for an included file, beside the including file first, as "NAME" asks for. For <NAME> that may find
 * too many files, never too few.
 */
static void find_file(struct search *search, const char *includer, const char *name)
{
    char beside[PATH_MAX];
    const char *slash = strrchr(includer, '/');
    if (slash) {
        snprintf(beside, sizeof beside, "%.*s", (int)(slash - includer), includer);
        if (try_folder(search, beside, name))
            return;
    }
    for (size_t i = 0; search->folders && search->folders[i]; i++)
        if (try_folder(search, search->folders[i], name))
            return;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Reads the name in an #include line. False when the line is no #include. */
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

static void scan_text(struct search *search, const char *text, const char *path)
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

/* Finds the files that the unit includes, directly or not, and calls `visit` with the text of each. */
static void search_includes(struct search *search, const char *unit, const char *unit_path,
                            void (*visit)(const char *text, uint64_t *digest), uint64_t *digest)
{
    scan_text(search, unit, unit_path);
    while (search->next < search->count) {
        const char *path = search->paths[search->next++], *text = text_of(search->files, path);
        if (text)
            scan_text(search, text, path);
        if (text && visit)
            visit(text, digest);
    }
    search->exhausted = search->exhausted || search->files->exhausted;
}

static void forget_paths(struct search *search)
{
    for (size_t i = 0; i < search->count; i++)
        free(search->paths[i]);
    free(search->paths);
}

bool cuda_dependencies_write(struct cuda_files *files, const char *unit, const char *unit_path,
                             const char *const *folders, const char *list_path)
{
    struct search search = {.files = files, .folders = folders};
    search_includes(&search, unit, unit_path, NULL, NULL);
    bool fine = !search.exhausted && write_list(&search, list_path);
    const int error = search.exhausted ? ENOMEM : errno;
    forget_paths(&search);
    errno = error;
    return fine;
}

/* Adds the text to an FNV-1a hash. */
static void add_to_digest(const char *text, uint64_t *digest)
{
    for (; *text; text++)
        *digest = (*digest ^ (unsigned char)*text) * 0x100000001b3u;
}

bool cuda_includes_digest(struct cuda_files *files, const char *unit, const char *const *folders,
                          uint64_t *digest)
{
    struct search search = {.files = files, .folders = folders};
    *digest = 0xcbf29ce484222325u;
    search_includes(&search, unit, "", add_to_digest, digest);
    bool fine = !search.exhausted && search.count > 0;
    forget_paths(&search);
    return fine;
}

/* The length of the folder above Gyre's headers in that path; 0 when the path is not the path of kernel.h. */
static size_t root_length(const char *path)
{
    static const char first[] = "/gyre/kernel.h";
    const size_t length = strlen(path), end = sizeof first - 1;
    return length > end && strcmp(path + length - end, first) == 0 ? length - end + 1 : 0;
}

size_t cuda_files_headers(const struct cuda_files *files, const char **names, const char **texts, size_t room)
{
    const char *root = NULL;
    size_t length = 0, count = 0;
    for (size_t i = 0; i < files->file_count && length == 0; i++) {
        root = files->files[i].path;
        length = files->files[i].text ? root_length(root) : 0;
    }
    for (size_t i = 0; length > 0 && i < files->file_count && count < room; i++) {
        const struct file *file = &files->files[i];
        if (!file->text || strncmp(file->path, root, length + strlen("gyre/")) != 0)
            continue;
        names[count] = file->path + length;
        texts[count++] = file->text;
    }
    return count;
}

/* ---- messages ---- */

/* Turns "FILE(LINE): error: text" into "FILE:LINE: text". False when the line has another form. */
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
        if (text[-1] == '#') /* the number of a diagnostic: skip it, up to the next ": " */
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

/* Looks for an error with a place first, then for an error of the assembler or of NVRTC itself. */
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
