/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the files that a unit includes, whole and only when they are regular files. No state. */
#include "backends/device/device_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNSIZED_MAX ((size_t)4 << 20)

/* Fills up to `room` bytes of `text`. Returns how many, or -1 with errno. */
static ssize_t fill_text(int descriptor, char *text, size_t room)
{
    size_t used = 0;
    while (used < room) {
        ssize_t count = read(descriptor, text + used, room - used);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -1;
        if (count == 0)
            break;
        used += (size_t)count;
    }
    return (ssize_t)used;
}

/* Reads an open file. `size` is what the file says of itself; 0: it is empty, or does not tell. */
static char *read_open(int descriptor, size_t size)
{
    const size_t room = size > 0 ? size : UNSIZED_MAX + 1;
    char *text = malloc(room + 1);
    ssize_t used = text ? fill_text(descriptor, text, room) : -1;
    if (used >= 0 && size == 0 && (size_t)used > UNSIZED_MAX) {
        errno = EFBIG;
        used = -1;
    }
    if (used < 0) {
        free(text);
        return NULL;
    }
    text[used] = '\0';
    return text;
}

char *device_text_read(const char *path)
{
    struct stat file;
    char *text = NULL;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return NULL;
    if (fstat(descriptor, &file) == 0) {
        errno = EIO;
        text = S_ISREG(file.st_mode) ? read_open(descriptor, (size_t)file.st_size) : NULL;
    }
    const int error = errno;
    close(descriptor);
    errno = error;
    return text;
}
