/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage discover (source.h): looks at the files that a source includes by a relative or absolute path, and refuses
 * devices and pipes, which a compiler would read without end. The compiler reports all other errors of a file. Has no
 * state, takes no lock.
 */
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/pipeline/pipeline.h"
#include "core/pipeline/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 64, DEPTH_MAX = 8 }; /* headers that include each other in circles end here */

struct walk {
    unsigned files, depth;
};

static gyre_status look_at_text(struct walk *walk, const char *path, const char *text);

/* Takes the name from a line `#include "NAME"` or `#include </ABSOLUTE/PATH>`. "" for any other line. */
static void take_name(const char *line, char name[PATH_MAX])
{
    name[0] = '\0';
    line += strspn(line, " \t");
    if (*line++ != '#')
        return;
    line += strspn(line, " \t");
    if (strncmp(line, "include", 7) != 0)
        return;
    line += 7 + strspn(line + 7, " \t");
    if (*line != '"' && !(line[0] == '<' && line[1] == '/'))
        return;
    const size_t length = strcspn(line + 1, *line == '"' ? "\"\n" : ">\n");
    if (length < PATH_MAX)
        snprintf(name, PATH_MAX, "%.*s", (int)length, line + 1);
}

static const char *kind_of(mode_t mode)
{
    if (S_ISCHR(mode) || S_ISBLK(mode))
        return "a device";
    return S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : NULL;
}

/* Reads a header. NULL for a header that cannot be read: the compiler reports what is wrong with it. */
static char *read_header(const char *path, const struct stat *file)
{
    if (!S_ISREG(file->st_mode) || file->st_size > GYRE_SOURCE_SIZE_MAX)
        return NULL;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const size_t room = gyre_file_room((size_t)file->st_size, GYRE_SOURCE_SIZE_MAX);
    char *text = descriptor < 0 ? NULL : malloc(room + 1);
    ssize_t length = text ? gyre_file_read(descriptor, text, room) : 0;
    if (text)
        text[length > 0 ? length : 0] = '\0';
    if (descriptor >= 0)
        close(descriptor);
    return text;
}

static gyre_status look_at_file(struct walk *walk, const char *from, unsigned line, const char *name)
{
    char path[PATH_MAX];
    struct stat file;
    const int folder = name[0] == '/' ? 0 : (int)(strrchr(from, '/') - from) + 1;
    const int length = snprintf(path, sizeof path, "%.*s%s", folder, from, name);
    if (length < 0 || length >= PATH_MAX || stat(path, &file) != 0)
        return GYRE_OK;
    if (kind_of(file.st_mode))
        return gyre_error_set(GYRE_INVALID, "%s:%u: the included file '%s' is %s; expected a file of C text",
                              from, line, name, kind_of(file.st_mode));
    if (S_ISREG(file.st_mode) && file.st_size > GYRE_SOURCE_SIZE_MAX)
        return gyre_error_set(GYRE_INVALID,
                              "%s:%u: the included file '%s' is %lld bytes long; %d are the limit", from,
                              line, name, (long long)file.st_size, GYRE_SOURCE_SIZE_MAX);
    if (walk->files == FILES_MAX || walk->depth == DEPTH_MAX)
        return GYRE_OK;
    char *text = read_header(path, &file);
    walk->files++;
    walk->depth++;
    gyre_status status = text ? look_at_text(walk, path, text) : GYRE_OK;
    walk->depth--;
    free(text);
    return status;
}

static gyre_status look_at_text(struct walk *walk, const char *path, const char *text)
{
    gyre_status status = GYRE_OK;
    char name[PATH_MAX];
    for (unsigned line = 1; text && status == GYRE_OK; line++) {
        take_name(text, name);
        if (name[0])
            status = look_at_file(walk, path, line, name);
        text = strchr(text, '\n');
        if (text)
            text++;
    }
    return status;
}

gyre_status gyre_source_check_included(const struct gyre_source *source)
{
    struct walk walk = {0, 0};
    return look_at_text(&walk, source->path, source->text);
}
