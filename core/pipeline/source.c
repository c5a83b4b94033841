/* SPDX-License-Identifier: Apache-2.0 */
/* Stage discover (source.h): finds and reads the file that the user's text names. Has no state, takes no lock. */
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/cache/artifact.h"
#include "core/pipeline/pipeline.h"
#include "core/pipeline/source.h"
#include "gyre/lack.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool gyre_is_kernel_name(const char *text)
{
    if (!isalpha((unsigned char)*text) && *text != '_')
        return false;
    while (isalnum((unsigned char)*text) || *text == '_')
        text++;
    return !*text;
}

/*
 * Judges a name whose text after the colon is no identifier. When the text before the colon is a file, that is a
 * mistake; else the colon is part of a file's name.
 */
static gyre_status check_kernel_name(const char *name, const char *colon)
{
    char file[PATH_MAX];
    snprintf(file, sizeof file, "%.*s", (int)(colon - name), name);
    if (access(file, F_OK) != 0)
        return GYRE_OK;
    if (!colon[1])
        return gyre_error_set(GYRE_INVALID,
                              "'%s' names no kernel behind the colon; expected '%s', or '%s:KERNEL'", name,
                              file, file);
    return gyre_error_set(GYRE_INVALID,
                          "'%s' is no kernel's name: expected a C identifier, as in '%s:KERNEL'", colon + 1,
                          file);
}

/* Splits "FILE:KERNEL", unless a file has this whole name: file names may hold colons. */
static gyre_status split_name(const char *name, char path[PATH_MAX], char kernel[GYRE_KERNEL_NAME_SIZE])
{
    size_t length = strlen(name);
    const char *colon = strrchr(name, ':');
    kernel[0] = '\0';
    if (length >= PATH_MAX)
        return gyre_error_set(GYRE_INVALID, "the kernel file's path is %zu bytes long; %d are the limit",
                              length, PATH_MAX - 1);
    memcpy(path, name, length + 1);
    if (!colon || colon == name || access(name, F_OK) == 0)
        return GYRE_OK;
    if (!gyre_is_kernel_name(colon + 1))
        return check_kernel_name(name, colon);
    if (strlen(colon + 1) >= GYRE_KERNEL_NAME_SIZE)
        return gyre_error_set(GYRE_INVALID, "the kernel's name '%s' is longer than %d bytes", colon + 1,
                              GYRE_KERNEL_NAME_SIZE - 1);
    path[colon - name] = '\0';
    memcpy(kernel, colon + 1, strlen(colon + 1) + 1);
    return GYRE_OK;
}

static gyre_status cannot_read(const char *path)
{
    return gyre_error_set(gyre_lack_status(errno, GYRE_INVALID), "kernel file '%s' cannot be read: %s%s",
                          path, strerror(errno), gyre_lack_remedy(errno));
}

static gyre_status not_regular(const char *path, mode_t mode)
{
    return gyre_error_set(GYRE_INVALID, "kernel file '%s' is %s; expected a file of C text (*.gyre.c)", path,
                          S_ISDIR(mode) ? "a folder" : "no regular file");
}

static gyre_status resolve_path(const char *typed, struct gyre_source *source)
{
    char folder[PATH_MAX];
    struct stat file;
    if (!realpath(typed, source->path)) {
        source->path[0] = '\0';
        int code = errno;
        if (stat(typed, &file) == 0) /* a pipe without a path of its own, such as a shell's <(...) */
            return not_regular(typed, file.st_mode);
        const char *where = typed[0] == '/' || !getcwd(folder, sizeof folder) ? NULL : folder;
        return gyre_error_set(
            code == ENOENT || code == ENOTDIR ? GYRE_NOT_FOUND : gyre_lack_status(code, GYRE_INVALID),
            "kernel file '%s'%s%s%s cannot be opened: %s", typed, where ? " (seen from '" : "",
            where ? where : "", where ? "')" : "", strerror(code));
    }
    if (strchr(source->path, '\n'))
        return gyre_error_set(
            GYRE_INVALID,
            "kernel file '%s': a path with a line feed in it cannot be named to a compiler: "
            "rename that file or folder",
            typed);
    memcpy(source->folder, source->path, sizeof source->folder);
    char *slash = strrchr(source->folder, '/');
    slash[slash == source->folder] = '\0';
    return GYRE_OK;
}

/*
 * Opens a regular file. Opens it non-blocking, so that a pipe or a device does not block the caller before it is
 * refused.
 */
static gyre_status open_regular(const char *path, int *descriptor, size_t *size)
{
    struct stat file;
    *descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*descriptor < 0 || fstat(*descriptor, &file) != 0)
        return cannot_read(path);
    if (!S_ISREG(file.st_mode))
        return not_regular(path, file.st_mode);
    *size = (size_t)file.st_size;
    return GYRE_OK;
}

static gyre_status read_text(struct gyre_source *source, int descriptor)
{
    source->text = malloc(source->size + 1);
    if (!source->text)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the %zu bytes of '%s'", source->size,
                              source->path);
    ssize_t length = gyre_file_read(descriptor, source->text, source->size);
    if (length < 0)
        return cannot_read(source->path);
    if (length > GYRE_SOURCE_SIZE_MAX)
        return gyre_error_set(GYRE_INVALID, "kernel file '%s' is longer than %d bytes, which are the limit",
                              source->path, GYRE_SOURCE_SIZE_MAX);
    source->size = (size_t)length;
    source->text[length] = '\0';
    return GYRE_OK;
}

static gyre_status check_text(const struct gyre_source *source)
{
    const char *nul = memchr(source->text, '\0', source->size);
    if (source->size == 0)
        return gyre_error_set(GYRE_INVALID,
                              "'%s' is empty: a kernel file declares at least one kernel with GYRE_KERNEL, "
                              "GYRE_BLOCK_KERNEL, GYRE_ACTOR or GYRE_KEYED_ACTOR",
                              source->path);
    if (nul)
        return gyre_error_set(
            GYRE_INVALID,
            "'%s' is no C text: byte %zu is NUL; expected a kernel source (*.gyre.c) or a file "
            "that `gyre compile -o` wrote",
            source->path, (size_t)(nul - source->text));
    return GYRE_OK;
}

/*
 * Whether the file is an artifact, or a damaged one: compiled files are never C text. Looks at both ends of the file.
 */
static bool looks_compiled(int descriptor, size_t size)
{
    unsigned char head[4], tail[256];
    size_t length = size < sizeof tail ? size : sizeof tail;
    if (pread(descriptor, head, sizeof head, 0) == (ssize_t)sizeof head && memcmp(head, "\177ELF", 4) == 0)
        return true;
    return pread(descriptor, tail, length, (off_t)(size - length)) == (ssize_t)length &&
           gyre_artifact_is_marked(tail, length);
}

static void drop_byte_order_mark(struct gyre_source *source)
{
    if (source->size < 3 || memcmp(source->text, "\xef\xbb\xbf", 3) != 0)
        return;
    source->size -= 3;
    memmove(source->text, source->text + 3, source->size + 1);
}

static gyre_status read_content(struct gyre_source *source, int descriptor)
{
    source->is_artifact = looks_compiled(descriptor, source->size);
    if (source->is_artifact)
        return GYRE_OK;
    source->size = gyre_file_room(source->size, GYRE_SOURCE_SIZE_MAX);
    gyre_status status = read_text(source, descriptor);
    if (status != GYRE_OK)
        return status;
    drop_byte_order_mark(source);
    status = check_text(source);
    return status == GYRE_OK ? gyre_source_check_included(source) : status;
}

gyre_status gyre_source_read(const char *name, struct gyre_source *source)
{
    char typed[PATH_MAX] = "";
    int descriptor = -1;
    memset(source, 0, sizeof *source);
    if (!name || !name[0])
        return gyre_error_set(GYRE_INVALID,
                              "no kernel file was named; expected FILE.gyre.c, FILE.gyre.c:KERNEL or "
                              "a file that `gyre compile -o` wrote");
    gyre_status status = split_name(name, typed, source->kernel);
    if (status == GYRE_OK)
        status = resolve_path(typed, source);
    if (status == GYRE_OK)
        status = open_regular(source->path, &descriptor, &source->size);
    if (status == GYRE_OK)
        status = read_content(source, descriptor);
    if (descriptor >= 0)
        close(descriptor);
    return status;
}

void gyre_source_finish(struct gyre_source *source)
{
    free(source->text);
    source->text = NULL;
}
