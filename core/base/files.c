/* SPDX-License-Identifier: Apache-2.0 */
/* Files as they are. No state; must not open anything, which could wait or take effect. */
#include "core/base/files.h"

#include <errno.h>
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
