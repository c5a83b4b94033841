/* SPDX-License-Identifier: Apache-2.0 */
/* Compares and reads files (files.h). No state. Opens no file, because opening could block or have an effect. */
#include "core/base/files.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool gyre_files_are_same(const char *one, const char *other)
{
    struct stat first, second;
    return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

size_t gyre_file_room(size_t size, size_t most)
{
    return size > 0 && size <= most ? size : most + 1;
}

ssize_t gyre_file_read(int descriptor, char *bytes, size_t room)
{
    size_t used = 0;
    while (used < room) {
        ssize_t got = read(descriptor, bytes + used, room - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        used += (size_t)got;
    }
    return (ssize_t)used;
}

static ssize_t read_at_most(int descriptor, char *text, size_t room, size_t most)
{
    const ssize_t got = text ? gyre_file_read(descriptor, text, room) : -1;
    if (got <= (ssize_t)most)
        return got;
    errno = EFBIG;
    return -1;
}

char *gyre_file_text(int descriptor, size_t most, size_t *length)
{
    struct stat about;
    if (fstat(descriptor, &about) != 0)
        return NULL;
    if (about.st_size > (off_t)most) {
        errno = EFBIG;
        return NULL;
    }
    const size_t room = gyre_file_room((size_t)about.st_size, most);
    char *text = malloc(room + 1);
    const ssize_t got = read_at_most(descriptor, text, room, most);
    if (got < 0) {
        free(text);
        return NULL;
    }
    text[got] = '\0';
    *length = (size_t)got;
    return text;
}
