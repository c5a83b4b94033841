/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of the file transport: each is a file that is replaced as a whole. Locks, outermost first: link->record_mutex, the file
 * records.lock; both for writers alone. No record's name begins with a dot, as that of a file that is being written does.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "file_transport.h"

static gyre_status damaged(const gyre_transport_link *link, const char *name)
{
    return link->host->error(
        GYRE_INCOMPATIBLE,
        "the cluster's record '%s/records/%s' is damaged: expected a head, a length and a "
        "checksum that fit: put back a copy of the folder",
        link->path, name);
}

static gyre_status read_file(const gyre_transport_link *link, int file, const char *name, void *bytes,
                             size_t room, size_t *byte_count, uint64_t *revision)
{
    unsigned char whole[sizeof(file_record_head) + GYRE_TRANSPORT_RECORD_MAX + 1];
    file_record_head head;
    const ssize_t got = pread(file, whole, sizeof whole, 0);
    if (got < 0)
        return file_failed(link, "read the record", name);
    memcpy(&head, whole, sizeof head);
    if ((size_t)got < sizeof head || head.magic != FILE_RECORD_MAGIC ||
        head.size != (size_t)got - sizeof head || head.size > GYRE_TRANSPORT_RECORD_MAX || !head.revision ||
        head.seal != file_seal(&head, offsetof(file_record_head, seal), whole + sizeof head, head.size))
        return damaged(link, name);
    if (head.size > room)
        return link->host->error(GYRE_INVALID, "the cluster's record '%s' has %u bytes, expected %zu at most",
                                 name, head.size, room);
    memcpy(bytes, whole + sizeof head, head.size);
    *byte_count = head.size;
    *revision = head.revision;
    return GYRE_OK;
}

gyre_status file_record_get(gyre_transport_link *link, const char *name, void *bytes, size_t room,
                            size_t *byte_count, uint64_t *revision)
{
    const int file = openat(link->records, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    *byte_count = 0;
    *revision = 0;
    if (file < 0)
        return errno == ENOENT ? GYRE_NOT_FOUND : file_failed(link, "open the record", name);
    const gyre_status status = read_file(link, file, name, bytes, room, byte_count, revision);
    close(file);
    return status;
}

/* A write that was kept, or may be. */
static gyre_status settle_folder(const gyre_transport_link *link, const char *name)
{
    if (!link->sync || fsync(link->records) == 0)
        return GYRE_OK;
    return link->host->error(
        GYRE_TIMEOUT,
        "the cluster's folder '%s': cannot bring the record '%s' to the disk: %s: it is not known whether "
        "it is kept",
        link->path, name, strerror(errno));
}

/* Under the lock. A holder who lost it either sees that here, or finds its file removed. */
static gyre_status write_record(const gyre_transport_link *link, const char *name, const void *bytes,
                                size_t byte_count, uint64_t revision)
{
    file_record_head head = {.magic = FILE_RECORD_MAGIC, .size = (uint32_t)byte_count, .revision = revision};
    char fresh[FILE_NEW_NAME_SIZE];
    file_new_name(fresh, link->record_lock.generation);
    const int file =
        openat(link->records, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return file_failed(link, "write the record", name);
    head.seal = file_seal(&head, offsetof(file_record_head, seal), bytes, byte_count);
    const bool is_lost = file_lock_is_lost(&link->record_lock);
    const bool wrote = !is_lost && file_write_all(file, &head, sizeof head, 0) &&
                       file_write_all(file, bytes, byte_count, sizeof head) &&
                       (!link->sync || fdatasync(file) == 0) &&
                       renameat(link->records, fresh, link->records, name) == 0;
    const int error = errno;
    close(file);
    if (wrote)
        return settle_folder(link, name);
    if (file_lock_is_lost(&link->record_lock))
        return file_lock_lost(link, name);
    errno = error;
    return file_failed(link, "write the record", name);
}

/* What follows the revision of a record that cannot be read: later than all that were counted. */
static uint64_t revision_of_damaged(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Under the lock. */
static gyre_status put_locked(gyre_transport_link *link, const char *name, const void *bytes,
                              size_t byte_count, uint64_t expected, uint64_t *revision)
{
    unsigned char now[GYRE_TRANSPORT_RECORD_MAX];
    size_t size;
    uint64_t found;
    gyre_status status = file_record_get(link, name, now, sizeof now, &size, &found);
    if (status == GYRE_INCOMPATIBLE && expected == GYRE_TRANSPORT_ANY)
        found = revision_of_damaged();
    else if (status != GYRE_OK && status != GYRE_NOT_FOUND)
        return status;
    if (expected != GYRE_TRANSPORT_ANY && found != expected)
        return link->host->error(GYRE_AGAIN, "the cluster's record '%s' has revision %llu, expected %llu",
                                 name, (unsigned long long)found, (unsigned long long)expected);
    *revision = found + 1;
    return write_record(link, name, bytes, byte_count, found + 1);
}

/* Under the lock. An earlier holder renames no file any more. */
static gyre_status mend_records(gyre_transport_link *link)
{
    file_lock *lock = &link->record_lock;
    if (lock->is_mended)
        return GYRE_OK;
    const gyre_status status = file_new_remove(link, link->records, lock->generation);
    return status == GYRE_OK ? file_lock_mended(link, lock, "records") : status;
}

gyre_status file_record_put(gyre_transport_link *link, const char *name, const void *bytes, size_t byte_count,
                            uint64_t expected, uint64_t *revision)
{
    *revision = 0;
    if (byte_count > GYRE_TRANSPORT_RECORD_MAX)
        return link->host->error(GYRE_INVALID, "a record has at most %u bytes, found %zu",
                                 GYRE_TRANSPORT_RECORD_MAX, byte_count);
    gyre_status status = file_lock_take(link, &link->record_mutex, &link->record_lock, "records");
    if (status != GYRE_OK)
        return status;
    status = mend_records(link);
    if (status == GYRE_OK)
        status = put_locked(link, name, bytes, byte_count, expected, revision);
    file_lock_release(&link->record_mutex, &link->record_lock);
    return status;
}

gyre_status file_record_list(gyre_transport_link *link, const char *prefix,
                             int (*each)(void *context, const char *name), void *context)
{
    const int copy = openat(link->records, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    if (!stream) {
        const gyre_status status = file_failed(link, "read the folder", "records");
        if (copy >= 0)
            close(copy);
        return status;
    }
    for (const struct dirent *entry; (entry = readdir(stream));)
        if (entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            !each(context, entry->d_name))
            break;
    closedir(stream);
    return GYRE_OK;
}
