/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a file beside its place and renames it, so that a full disk never leaves half a file. Writes the target of a link in
 * place, because the link may be a name of standard output.
 */
#include "cli/base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MODE_NEW = 0666 };

static bool write_all(int descriptor, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t wrote = write(descriptor, bytes, size);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return false;
        bytes += wrote;
        size -= (size_t)wrote;
    }
    return true;
}

/* Writes all bytes and closes the file, because an error of a write may come as late as the close. */
static bool write_and_close(int descriptor, const void *bytes, size_t size)
{
    const bool written = write_all(descriptor, bytes, size);
    const int reason = errno;
    const bool closed = close(descriptor) == 0;
    if (!written)
        errno = reason;
    return written && closed;
}

static bool write_in_place(const char *path, const void *bytes, size_t size)
{
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, MODE_NEW);
    return descriptor >= 0 && write_and_close(descriptor, bytes, size);
}

/* Opens a new file of a name that no file has; -1 with errno. The new file gets the rights of the file that it will replace. */
static int open_beside(const char *beside, const struct stat *replaced)
{
    const int descriptor = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE_NEW);
    if (descriptor >= 0 && replaced)
        (void)fchmod(descriptor, replaced->st_mode & 0777);
    return descriptor;
}

static bool write_beside_and_rename(int descriptor, const char *beside, const char *path, const void *bytes,
                                    size_t size)
{
    if (write_and_close(descriptor, bytes, size) && rename(beside, path) == 0)
        return true;
    const int reason = errno;
    unlink(beside);
    errno = reason;
    return false;
}

bool output_file_write(const char *path, const void *bytes, size_t size)
{
    char beside[PATH_MAX];
    struct stat there;
    const bool is_there = lstat(path, &there) == 0;
    const int length = snprintf(beside, sizeof beside, "%s.%ld.tmp", path, (long)getpid());
    if ((is_there && !S_ISREG(there.st_mode)) || length < 0 || (size_t)length >= sizeof beside)
        return write_in_place(path, bytes, size);
    if (is_there && access(path, W_OK) != 0) /* a rename would not check this permission */
        return false;
    const int descriptor = open_beside(beside, is_there ? &there : NULL);
    /* the folder takes no new file, but the file itself may be writable */
    if (descriptor < 0 && (errno == EACCES || errno == ENAMETOOLONG))
        return write_in_place(path, bytes, size);
    return descriptor >= 0 && write_beside_and_rename(descriptor, beside, path, bytes, size);
}
