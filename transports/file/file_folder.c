/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and writes what the file transport keeps. No state. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_transport.h"
#include "gyre/checksum.h"

gyre_status file_failed(const gyre_transport_link *link, const char *what, const char *name)
{
    const int error = errno;
    const bool lacks = error == ENOSPC || error == EDQUOT || error == EMFILE || error == ENFILE ||
                       error == ENOMEM || error == EFBIG;
    return link->host->error(lacks ? GYRE_EXHAUSTED : GYRE_UNAVAILABLE,
                             "the cluster's folder '%s': cannot %s '%s': %s", link->path, what, name,
                             strerror(error));
}

int file_open_made(const gyre_transport_link *link, int folder, const char *name)
{
    const int file = openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        file_failed(link, "open", name);
    return file;
}

int file_open_folder(const gyre_transport_link *link, int folder, const char *name)
{
    int opened = -1;
    if (mkdirat(folder, name, 0700) == 0 || errno == EEXIST)
        opened = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (opened < 0)
        file_failed(link, "open the folder", name);
    if (opened >= 0 && link->sync && fsync(folder) != 0) { /* whoever made it may not have come to that */
        file_failed(link, "bring to the disk the folder", name);
        close(opened);
        opened = -1;
    }
    return opened;
}

bool file_write_all(int file, const void *bytes, size_t size, uint64_t offset)
{
    const unsigned char *at = bytes;
    while (size > 0) {
        const ssize_t wrote = pwrite(file, at, size, (off_t)offset);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        at += wrote;
        size -= (size_t)wrote;
        offset += (uint64_t)wrote;
    }
    return true;
}

uint32_t file_seal(const void *head, size_t before, const void *bytes, size_t size)
{
    return gyre_seal_of(head, before, bytes, size);
}
