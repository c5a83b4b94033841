/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the hash of a handler's source (handler.h): of its file's text, of its author's headers that the file
 * includes, and of the macros that options define. Comments, blanks, ends of lines, places of files, the backend and
 * Gyre's version are no part of the hash: a handler has the same hash on another backend and after an update of Gyre.
 *
 * An #include counts whether its #if is true or not. A header is the author's when it is found beside the file that
 * includes it, beside the kernel file, or in an -I folder of the options. Other headers are the system's or Gyre's,
 * and do not count. Has no state.
 */
#include "core/base/files.h"
#include "core/pipeline/handler.h"
#include "core/pipeline/pipeline.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FILES_MAX = 256 };

struct walk {
    const struct gyre_source *source;
    const char *headers, *options;
    struct {
        dev_t device;
        ino_t inode;
    } seen[FILES_MAX];
    size_t count;
    XXH3_state_t *hash;
};

/* ---- the text of a file without what says nothing ---- */

static bool is_word(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_' || letter == '.' || (unsigned char)letter >= 128;
}

/* Returns the place behind the literal that begins at `at`, or the end of the text. */
static const char *skip_literal(const char *at)
{
    const char quote = *at++;
    while (*at && *at != quote && *at != '\n')
        at += at[0] == '\\' && at[1] ? 2 : 1;
    return *at ? at + 1 : at;
}

/*
 * Returns the place behind blanks and comments and, with `lines`, ends of lines. *ended: set when there was an end of
 * a line.
 */
static const char *skip_nothing(const char *at, bool lines, bool *ended)
{
    for (;;) {
        if (at[0] == '/' && at[1] == '/')
            at += strcspn(at, "\n");
        else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            at = end ? end + 2 : at + strlen(at);
        } else if (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\f' || *at == '\v')
            at++;
        else if (*at == '\n' && lines) {
            *ended = true;
            at++;
        } else
            return at;
    }
}

/*
 * Whether a blank between these letters matters: it separates two words, or two signs that could be one sign
 * together. In a directive every blank matters ("F (x)" is not "F(x)").
 */
static bool blank_separates(char before, char after, bool directive)
{
    static const char apart[] = "(){}[];,\n";
    if (!before || !after || before == '\n' || after == '\n')
        return false;
    if (directive)
        return true;
    return is_word(before) == is_word(after) && !strchr(apart, before) && !strchr(apart, after);
}

/* Joins each line that ends with a backslash with the next line. */
static void join_lines(char *text)
{
    char *to = text;
    for (const char *at = text; *at;)
        if (at[0] == '\\' && at[1] == '\n')
            at += 2;
        else
            *to++ = *at++;
    *to = '\0';
}

/*
 * Strips comments and blanks from the text in place, because the text only gets shorter. A directive keeps its own
 * line.
 */
static void strip_text(char *text)
{
    const char *at = text;
    char *to = text;
    bool directive = false, ended = true;
    while (*at) {
        const char *next = skip_nothing(at, !directive, &ended);
        const bool blank = next != at;
        at = next;
        if (*at == '\n') { /* a directive's */
            *to++ = '\n';
            at++;
            directive = false;
            ended = true;
            continue;
        }
        if (ended && *at == '#') {
            directive = true;
            if (to > text && to[-1] != '\n')
                *to++ = '\n';
        }
        ended = false;
        if (blank && to > text && blank_separates(to[-1], *at, directive))
            *to++ = ' ';
        const size_t length = *at == '"' || *at == '\'' ? (size_t)(skip_literal(at) - at) : *at ? 1 : 0;
        memmove(to, at, length);
        to += length;
        at += length;
    }
    *to = '\0';
}

/* ---- what it includes ---- */

static void hash_text(struct walk *walk, const char *folder, const char *text);

/* Notes that a file was looked at. False: it is no regular file, was looked at before, or there are too many files. */
static bool enter_file(struct walk *walk, const struct stat *file)
{
    for (size_t i = 0; i < walk->count; i++)
        if (walk->seen[i].device == file->st_dev && walk->seen[i].inode == file->st_ino)
            return false;
    if (walk->count == FILES_MAX || !S_ISREG(file->st_mode))
        return false;
    walk->seen[walk->count].device = file->st_dev;
    walk->seen[walk->count++].inode = file->st_ino;
    return true;
}

/* Hashes the header FOLDER/NAME, unless it is Gyre's own or was hashed before. False: there is no such file. */
static bool hash_file(struct walk *walk, const char *folder, size_t folder_length, const char *name)
{
    char typed[PATH_MAX], path[PATH_MAX];
    struct stat file;
    size_t size = 0;
    const size_t own = walk->headers ? strlen(walk->headers) : 0;
    const int length = name[0] == '/'
                           ? snprintf(typed, sizeof typed, "%s", name)
                           : snprintf(typed, sizeof typed, "%.*s/%s", (int)folder_length, folder, name);
    if (length < 0 || length >= PATH_MAX || !realpath(typed, path) || stat(path, &file) != 0)
        return false;
    if ((own && strncmp(path, walk->headers, own) == 0 && path[own] == '/') || !enter_file(walk, &file))
        return true;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = descriptor < 0 ? NULL : gyre_file_text(descriptor, GYRE_SOURCE_SIZE_MAX, &size);
    if (descriptor >= 0)
        close(descriptor);
    *strrchr(path, '/') = '\0';
    if (text)
        hash_text(walk, path, text);
    free(text);
    return true;
}

/* Moves *at to the next word of the options. Returns the word's length. */
static size_t next_option(const char **at)
{
    *at += strspn(*at, " \t");
    return strcspn(*at, " \t");
}

static bool hash_from_options(struct walk *walk, const char *name)
{
    const char *at = walk->options;
    for (size_t length; (length = next_option(&at)) > 0; at += length) {
        if (strncmp(at, "-I", 2) != 0)
            continue;
        if (length == 2) {
            at += 2;
            length = next_option(&at);
            if (hash_file(walk, at, length, name))
                return true;
        } else if (hash_file(walk, at + 2, length - 2, name)) {
            return true;
        }
    }
    return false;
}

static void hash_included(struct walk *walk, const char *folder, const char *line)
{
    char name[PATH_MAX];
    line += 1 + strspn(line + 1, " ");
    if (strncmp(line, "include", 7) != 0)
        return;
    line += 7 + strspn(line + 7, " ");
    const size_t length = *line == '"' || *line == '<' ? strcspn(line + 1, "\">\n") : 0;
    if (length == 0 || length >= sizeof name)
        return;
    snprintf(name, sizeof name, "%.*s", (int)length, line + 1);
    if ((*line == '"' && hash_file(walk, folder, strlen(folder), name)) ||
        hash_file(walk, walk->source->folder, strlen(walk->source->folder), name))
        return;
    hash_from_options(walk, name);
}

static void hash_text(struct walk *walk, const char *folder, const char *text)
{
    char *stripped = strdup(text);
    /* the hash comes out wrong, so the source counts as changed: whoever compares hashes reports that */
    if (!stripped)
        return;
    join_lines(stripped);
    strip_text(stripped);
    XXH3_64bits_update(walk->hash, stripped, strlen(stripped) + 1);
    for (const char *line = stripped; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (*line == '#')
            hash_included(walk, folder, line);
    }
    free(stripped);
}

/* Hashes -DNAME and -UNAME, also with a blank before NAME. Macros named GYRE_... are Gyre's own, and do not count. */
static void hash_macros(struct walk *walk)
{
    const char *at = walk->options;
    for (size_t length; (length = next_option(&at)) > 0; at += length) {
        if (strncmp(at, "-D", 2) != 0 && strncmp(at, "-U", 2) != 0)
            continue;
        const char *kind = at;
        at += 2;
        length = length == 2 ? next_option(&at) : length - 2;
        if (strncmp(at, "GYRE_", 5) == 0)
            continue;
        XXH3_64bits_update(walk->hash, kind, 2);
        XXH3_64bits_update(walk->hash, at, length);
    }
}

uint64_t gyre_handler_hash(const struct gyre_source *source, const char *headers, const char *options)
{
    XXH3_state_t state;
    struct walk walk = {.source = source, .headers = headers, .options = options, .hash = &state};
    XXH3_64bits_reset(&state);
    hash_text(&walk, source->folder, source->text);
    hash_macros(&walk);
    const uint64_t hash = XXH3_64bits_digest(&state);
    return hash ? hash : 1;
}
