/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes artifacts (artifact.h). The footer is last, so that the image stays loadable, and so that its
 * place is known without trusting any other part. Takes no lock: a file is written under a temporary name and
 * renamed.
 */
#include "core/cache/artifact.h"
#include "core/base/error.h"
#include "core/base/file_write.h"
#include "gyre/lack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static const char footer_magic[8] = {'G', 'Y', 'R', 'E', 'K', 'R', 'N', '1'};

struct footer {
    uint64_t image_size, note_size;
    uint64_t hash_low, hash_high; /* hash of all bytes before the footer */
    char magic[8];
    uint64_t reserved[3];
};

/* ---- reading ---- */

static void hash_content(const void *bytes, size_t size, struct footer *footer)
{
    XXH128_hash_t hash = XXH3_128bits(bytes, size);
    footer->hash_low = hash.low64;
    footer->hash_high = hash.high64;
}

static gyre_status explain_stranger(const char *path, const unsigned char *bytes, size_t size)
{
    if (size >= 4 && memcmp(bytes, "\177ELF", 4) == 0)
        return gyre_error_set(
            GYRE_INVALID,
            "'%s' is a compiled file without Gyre's end mark: `gyre compile -o` did not write "
            "it, or its end is missing",
            path);
    return gyre_error_set(GYRE_INVALID, "'%s' is no compiled kernel: Gyre's end mark is missing", path);
}

bool gyre_artifact_is_marked(const unsigned char *bytes, size_t size)
{
    return size >= sizeof(struct footer) &&
           memcmp(bytes + size - sizeof(struct footer) + offsetof(struct footer, magic), footer_magic,
                  sizeof footer_magic) == 0;
}

gyre_status gyre_artifact_parse(const char *path, const void *bytes, size_t size,
                                struct gyre_artifact *artifact)
{
    struct footer footer, seen;
    memset(artifact, 0, sizeof *artifact);
    if (!gyre_artifact_is_marked(bytes, size))
        return explain_stranger(path, bytes, size);
    size_t content = size - sizeof footer;
    memcpy(&footer, (const unsigned char *)bytes + content, sizeof footer);
    if (footer.image_size > content || footer.note_size != content - footer.image_size)
        return gyre_error_set(
            GYRE_FAILED, "'%s' is damaged: its end tells of %llu + %llu bytes, there are %zu: compile again",
            path, (unsigned long long)footer.image_size, (unsigned long long)footer.note_size, content);
    hash_content(bytes, content, &seen);
    if (seen.hash_low != footer.hash_low || seen.hash_high != footer.hash_high)
        return gyre_error_set(GYRE_FAILED, "'%s' is damaged: its checksum does not match: compile again",
                              path);
    artifact->map = bytes;
    artifact->map_size = size;
    artifact->image_size = (size_t)footer.image_size;
    artifact->note_size = (size_t)footer.note_size;
    return GYRE_OK;
}

/*
 * Reads as many bytes as the file has. If another program cuts the file meanwhile, zeros remain, and the checksum
 * does not fit. False, with errno, when the file cannot be read: zeros must not pass for an image.
 */
static bool read_at(int descriptor, unsigned char *bytes, size_t size, size_t at)
{
    while (size > 0) {
        ssize_t got = pread(descriptor, bytes, size, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        bytes += got;
        at += (size_t)got;
        size -= (size_t)got;
    }
    return true;
}

/*
 * Whether the file's end is that of an artifact, so that the file is worth reading: any other file may be very large.
 * A file that cannot be read is worth another try, which tells why.
 */
static bool ends_as_artifact(int descriptor, unsigned char *bytes, size_t size)
{
    struct footer footer;
    if (size < sizeof footer)
        return true; /* and is soon read */
    const size_t content = size - sizeof footer;
    if (!read_at(descriptor, bytes, size < 4 ? size : 4, 0) || /* what it is else */
        !read_at(descriptor, bytes + content, sizeof footer, content))
        return true;
    memcpy(&footer, bytes + content, sizeof footer);
    return gyre_artifact_is_marked(bytes, size) && footer.image_size <= content &&
           footer.note_size == content - footer.image_size;
}

static gyre_status read_error(const char *path, int error)
{
    return gyre_error_set(error == ENOENT ? GYRE_NOT_FOUND : gyre_lack_status(error, GYRE_UNAVAILABLE),
                          "'%s' cannot be read: %s%s", path, strerror(error), gyre_lack_remedy(error));
}

/* Reads the file into memory of its size. Returns 0 or an errno; *bytes is MAP_FAILED without memory or content. */
static int fill(int descriptor, bool image, void **bytes, size_t *size)
{
    struct stat file;
    if (fstat(descriptor, &file) != 0)
        return errno;
    if (!S_ISREG(file.st_mode) || file.st_size <= 0)
        return 0;
    *size = (size_t)file.st_size;
    *bytes = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (*bytes == MAP_FAILED)
        return errno;
    if ((image || ends_as_artifact(descriptor, *bytes, *size)) && !read_at(descriptor, *bytes, *size, 0))
        return errno;
    return 0;
}

/* Reads a file into memory. Does not map it: if another program cuts a mapped file, reading it is a signal (SIGBUS). */
static gyre_status read_file(const char *path, bool image, void **bytes, size_t *size)
{
    *bytes = MAP_FAILED;
    *size = 0;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return read_error(path, errno);
    const int error = fill(descriptor, image, bytes, size);
    close(descriptor);
    if (error && *bytes != MAP_FAILED)
        munmap(*bytes, *size);
    if (error)
        return read_error(path, error);
    if (*bytes == MAP_FAILED)
        return gyre_error_set(GYRE_INVALID, "'%s' is no compiled kernel: it is empty or no regular file",
                              path);
    return GYRE_OK;
}

static gyre_status open_file(const char *path, bool image, struct gyre_artifact *artifact)
{
    void *bytes = NULL;
    size_t size = 0;
    memset(artifact, 0, sizeof *artifact);
    gyre_status status = read_file(path, image, &bytes, &size);
    if (status != GYRE_OK)
        return status;
    artifact->map = bytes;
    artifact->map_size = artifact->image_size = size;
    return GYRE_OK;
}

gyre_status gyre_artifact_open_image(const char *path, struct gyre_artifact *artifact)
{
    return open_file(path, true, artifact);
}

gyre_status gyre_artifact_open(const char *path, struct gyre_artifact *artifact)
{
    gyre_status status = open_file(path, false, artifact);
    if (status != GYRE_OK)
        return status;
    const void *bytes = artifact->map;
    const size_t size = artifact->map_size;
    status = gyre_artifact_parse(path, bytes, size, artifact);
    if (status != GYRE_OK)
        munmap((void *)(uintptr_t)bytes, size);
    return status;
}

void gyre_artifact_close(struct gyre_artifact *artifact)
{
    if (artifact->map)
        munmap((void *)(uintptr_t)artifact->map, artifact->map_size);
    memset(artifact, 0, sizeof *artifact);
}

/* ---- the note ---- */

bool gyre_artifact_note_next(const struct gyre_artifact *artifact, const char *key, size_t *at,
                             const char **value, size_t *length)
{
    const char *note = (const char *)artifact->map + artifact->image_size;
    size_t key_length = strlen(key);
    while (*at < artifact->note_size) {
        const char *line = note + *at;
        const char *end = memchr(line, '\n', artifact->note_size - *at);
        size_t line_length = end ? (size_t)(end - line) : artifact->note_size - *at;
        *at += line_length + 1;
        if (line_length > key_length && memcmp(line, key, key_length) == 0 && line[key_length] == ' ') {
            *value = line + key_length + 1;
            *length = line_length - key_length - 1;
            return true;
        }
    }
    return false;
}

bool gyre_artifact_note(const struct gyre_artifact *artifact, const char *key, char *value, size_t size)
{
    const char *found = NULL;
    size_t at = 0, length = 0;
    bool there = gyre_artifact_note_next(artifact, key, &at, &found, &length);
    if (length > size - 1)
        length = size - 1;
    if (there)
        memcpy(value, found, length);
    value[there ? length : 0] = '\0';
    return there;
}

/* ---- writing ---- */

static gyre_status write_error(const char *path)
{
    return gyre_error_set(gyre_lack_status(errno, GYRE_FAILED), "'%s' cannot be written: %s%s", path,
                          strerror(errno), gyre_lack_remedy(errno));
}

static gyre_status write_all(int descriptor, const char *path, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = gyre_file_write(descriptor, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return write_error(path);
        bytes += written;
        size -= (size_t)written;
    }
    return GYRE_OK;
}

/* Puts image, note and footer into one block of memory, which the caller frees. NULL without memory. */
static unsigned char *assemble(const void *image, size_t image_size, const char *note, size_t *size)
{
    struct footer footer = {.image_size = image_size, .note_size = strlen(note)};
    size_t content = image_size + (size_t)footer.note_size;
    unsigned char *bytes = malloc(content + sizeof footer);
    if (!bytes)
        return NULL;
    memcpy(bytes, image, image_size);
    memcpy(bytes + image_size, note, (size_t)footer.note_size);
    hash_content(bytes, content, &footer);
    memcpy(footer.magic, footer_magic, sizeof footer_magic);
    memcpy(bytes + content, &footer, sizeof footer);
    *size = content + sizeof footer;
    return bytes;
}

gyre_status gyre_artifact_write(const char *path, const void *image, size_t image_size, const char *note)
{
    static atomic_uint counter;
    char temporary[PATH_MAX];
    struct stat there; /* what is at `path` now: only a regular file is replaced, no device or folder */
    size_t size = 0;
    gyre_status status = GYRE_OK;
    int length = snprintf(temporary, sizeof temporary, "%s.%ld.%u.tmp", path, (long)getpid(),
                          atomic_fetch_add(&counter, 1));
    if (length < 0 || (size_t)length >= sizeof temporary)
        return gyre_error_set(GYRE_INVALID, "the path '%s' is too long", path);
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
        return gyre_error_set(GYRE_INVALID, "'%s' is %s; expected a file, or a name that is free", path,
                              S_ISDIR(there.st_mode) ? "a folder" : "no regular file");
    unsigned char *bytes = assemble(image, image_size, note, &size);
    if (!bytes)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a compiled kernel of %zu bytes", image_size);
    int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        status = write_error(path);
        goto done;
    }
    status = write_all(descriptor, path, bytes, size);
    if (close(descriptor) != 0 && status == GYRE_OK)
        status = write_error(path);
    if (status == GYRE_OK && rename(temporary, path) != 0)
        status = write_error(path);
    if (status != GYRE_OK)
        unlink(temporary);
done:
    free(bytes);
    return status;
}
