/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, locks and writes what the file transport keeps. No state. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
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

static gyre_status held_too_long(const gyre_transport_link *link, const char *name)
{
    return link->host->error(
        GYRE_UNAVAILABLE,
        "the cluster's folder '%s': another process holds the lock of '%s' for longer than reach_ms of "
        "[cluster], %llu ms: look for a process that is stopped, and let it go on or end it",
        link->path, name, (unsigned long long)(link->reach_ns / 1000000));
}

gyre_status file_lock(const gyre_transport_link *link, pthread_mutex_t *mutex, int lock, const char *name)
{
    enum { FIRST_NAP_NS = 20000, LONGEST_NAP_NS = 1000000 };
    const uint64_t until = link->host->now_ns() + link->reach_ns;
    long nap = FIRST_NAP_NS;
    for (;;) {
        pthread_mutex_lock(mutex);
        if (flock(lock, LOCK_EX | LOCK_NB) == 0)
            return GYRE_OK;
        const int error = errno;
        pthread_mutex_unlock(mutex); /* readers of this process go on */
        errno = error;
        if (error != EINTR && error != EWOULDBLOCK)
            return file_failed(link, "lock", name);
        if (link->host->now_ns() >= until)
            return held_too_long(link, name);
        nanosleep(&(struct timespec){.tv_nsec = nap}, NULL);
        nap = nap * 2 < LONGEST_NAP_NS ? nap * 2 : LONGEST_NAP_NS;
    }
}

void file_unlock(pthread_mutex_t *mutex, int lock)
{
    flock(lock, LOCK_UN);
    pthread_mutex_unlock(mutex);
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
