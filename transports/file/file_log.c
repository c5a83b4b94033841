/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs of the file transport. Locks, outermost first: log->mutex, the file `lock` of the log (appends and purges; a thread that waits for
 * it naps without the mutex). link->mutex, for the list of logs, is never held with either.
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "file_transport.h"

#define SLICE_NS UINT64_C(50000000) /* the longest sleep without a look */

/* ---- the list of logs ---- */

static gyre_status open_log(gyre_transport_link *link, const char *name, file_log **out)
{
    file_log *log = calloc(1, sizeof *log);
    if (!log)
        return link->host->error(GYRE_EXHAUSTED, "no memory for the cluster's log '%s'", name);
    *log = (file_log){.link = link, .lock.file = -1, .end.file = -1, .reader.file = -1};
    strcpy(log->name, name);
    pthread_mutex_init(&log->mutex, NULL);
    log->folder = file_open_folder(link, link->logs, name);
    const gyre_status status =
        log->folder < 0 ? GYRE_UNAVAILABLE : file_lock_open(link, &log->lock, log->folder, "lock");
    if (status != GYRE_OK) {
        file_lock_close(&log->lock);
        if (log->folder >= 0)
            close(log->folder);
        free(log);
        return status;
    }
    *out = log;
    return GYRE_OK;
}

static gyre_status find_log(gyre_transport_link *link, const char *name, file_log **out)
{
    gyre_status status = GYRE_OK;
    if (strlen(name) > GYRE_TRANSPORT_NAME_MAX)
        return link->host->error(GYRE_INVALID, "a log's name has at most %d characters",
                                 GYRE_TRANSPORT_NAME_MAX);
    pthread_mutex_lock(&link->mutex);
    file_log *log = link->first;
    while (log && strcmp(log->name, name) != 0)
        log = log->following;
    if (!log) {
        status = open_log(link, name, &log);
        if (status == GYRE_OK) {
            log->following = link->first;
            link->first = log;
        }
    }
    pthread_mutex_unlock(&link->mutex);
    *out = log;
    return status;
}

void file_logs_close(gyre_transport_link *link)
{
    while (link->first) {
        file_log *log = link->first;
        link->first = log->following;
        file_place_close(&log->end);
        file_place_close(&log->reader);
        close(log->folder);
        file_lock_close(&log->lock);
        pthread_mutex_destroy(&log->mutex);
        free(log);
    }
}

/* ---- bells ---- */

static size_t bell_of(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash % FILE_BELLS;
}

/*
 * Bells are written and read as a file, and futexes only use the address of its mapping: somebody who cuts the file short makes these
 * calls fail, and no process is ended by a signal.
 */
static void ring_bell(const gyre_transport_link *link, const char *name)
{
    const size_t bell = bell_of(name);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint32_t value = (uint32_t)now.tv_nsec ^ (uint32_t)now.tv_sec << 30;
    if (pwrite(link->bells, &value, sizeof value, (off_t)(bell * sizeof value)) == sizeof value)
        syscall(SYS_futex, (uint32_t *)link->bell_words + bell, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static uint32_t read_bell(const gyre_transport_link *link, const char *name)
{
    uint32_t value = 0;
    return pread(link->bells, &value, sizeof value, (off_t)(bell_of(name) * sizeof value)) == sizeof value
               ? value
               : 0;
}

static void await_bell(const gyre_transport_link *link, const char *name, uint32_t seen, uint64_t time_ns)
{
    const struct timespec time = {(time_t)(time_ns / 1000000000), (long)(time_ns % 1000000000)};
    if (syscall(SYS_futex, (uint32_t *)link->bell_words + bell_of(name), FUTEX_WAIT, seen, &time, NULL, 0) !=
            0 &&
        errno == EFAULT)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* ---- appending ---- */

/* Cuts off what a process that was killed wrote in part. Under the lock. */
static gyre_status cut_torn(file_log *log)
{
    struct stat about;
    if (log->end.file < 0)
        return GYRE_OK;
    if (fstat(log->end.file, &about) != 0 ||
        ((uint64_t)about.st_size > log->end.offset && ftruncate(log->end.file, (off_t)log->end.offset) != 0))
        return file_failed(log->link, "mend the log", log->name);
    return GYRE_OK;
}

/*
 * A segment that was opened belongs to whoever held the lock at that time. A process that lost the lock before has opened what others write
 * to; one that loses it later has a file that is sealed then.
 */
static gyre_status check_held(file_log *log)
{
    if (!file_lock_is_lost(&log->lock))
        return GYRE_OK;
    file_place_close(&log->end);
    return file_lock_lost(log->link, log->name);
}

/* Opens the last segment, which is not sealed unless whoever sealed it died. Under the lock. */
static gyre_status open_end(file_log *log)
{
    gyre_status status = file_place_open(log, &log->end, UINT64_MAX);
    if (status == GYRE_OK && log->end.file >= 0 && file_place_is_stale(&log->end))
        status = file_segment_renew(log);
    if (status == GYRE_OK && log->end.file < 0)
        status = file_place_open(log, &log->end, UINT64_MAX);
    return status == GYRE_OK ? check_held(log) : status;
}

/* Nothing lies in a segment that is sealed: the end that was found counts when the segment is not, behind the look. */
static gyre_status check_end(file_log *log)
{
    if (log->end.file < 0 || !file_place_is_stale(&log->end))
        return GYRE_OK;
    file_place_close(&log->end);
    return file_lock_lost(log->link, log->name);
}

/* Moves log->end behind the last block. Under the lock. */
static gyre_status find_end(file_log *log)
{
    bool moved = true;
    gyre_status status = GYRE_OK;
    if (log->end.file < 0 || file_place_is_stale(&log->end))
        status = open_end(log);
    while (status == GYRE_OK && moved) {
        file_block_head head;
        enum file_finding found = FILE_FOUND;
        while ((status = file_head_read(log, &log->end, &head, &found)) == GYRE_OK && found == FILE_FOUND)
            file_place_pass(&log->end, &head);
        moved = false;
        if (status == GYRE_OK)
            status = file_place_go_on(log, &log->end, &moved);
        if (status == GYRE_OK && moved)
            status = check_held(log);
    }
    if (status == GYRE_OK)
        status = check_end(log);
    return status == GYRE_OK ? cut_torn(log) : status;
}

/*
 * A block whose sync failed stays: a reader may have it, and the next sync may bring it to the disk. The system may count bytes as written
 * after a failure, so they are written again for the next sync.
 */
static gyre_status sync_block(file_log *log, const void *bytes, size_t size)
{
    if (!log->link->sync || fdatasync(log->end.file) == 0)
        return GYRE_OK;
    const int error = errno;
    file_write_all(log->end.file, bytes, size, log->end.offset);
    file_place_close(&log->end); /* the next append looks for the end again */
    return log->link->host->error(
        GYRE_TIMEOUT,
        "the cluster's folder '%s': cannot bring a block of the log '%s' to the disk: %s: it is not known "
        "whether the block is kept",
        log->link->path, log->name, strerror(error));
}

/* Under the lock. */
static gyre_status write_bytes(file_log *log, const void *bytes, size_t size)
{
    if (file_write_all(log->end.file, bytes, size, log->end.offset))
        return sync_block(log, bytes, size);
    const gyre_status status = file_failed(log->link, "write the log", log->name);
    if (ftruncate(log->end.file, (off_t)log->end.offset) != 0)
        file_place_close(&log->end);
    return status;
}

static gyre_status write_block(file_log *log, const gyre_transport_block *block)
{
    static const char zeros[8];
    file_block_head head = {
        .magic = FILE_BLOCK_MAGIC, .size = (uint32_t)block->byte_count, .number = log->end.next};
    unsigned char small[4096];
    const size_t size = sizeof head + block->byte_count, whole = (size_t)file_block_whole(&head);
    unsigned char *bytes = whole <= sizeof small ? small : malloc(whole);
    if (!bytes)
        return log->link->host->error(GYRE_EXHAUSTED, "no memory for a block of the log '%s'", log->name);
    head.seal = file_seal(&head, offsetof(file_block_head, seal), block->bytes, block->byte_count);
    head.head_seal = file_head_seal(&head);
    memcpy(bytes, &head, sizeof head);
    if (block->byte_count)
        memcpy(bytes + sizeof head, block->bytes, block->byte_count);
    memcpy(bytes + size, zeros, whole - size);
    const gyre_status status = write_bytes(log, bytes, whole);
    if (status == GYRE_OK)
        file_place_pass(&log->end, &head);
    if (bytes != small)
        free(bytes);
    return status;
}

/* With `sync` nothing is written behind blocks that may not be on the disk. Under the lock. */
static gyre_status next_segment(file_log *log, uint64_t next)
{
    if (log->link->sync && log->end.file >= 0 && fdatasync(log->end.file) != 0)
        return file_failed(log->link, "bring to the disk the log", log->name);
    const gyre_status status = file_place_make(log, &log->end, next);
    return status == GYRE_OK ? check_held(log) : status;
}

/* Bytes that were written after another process took the lock over count for nothing; those before do. */
static gyre_status check_counts(const file_log *log)
{
    if (!file_place_is_stale(&log->end))
        return GYRE_OK;
    return log->link->host->error(
        GYRE_TIMEOUT,
        "the cluster's folder '%s': this process stood still while it held the lock of '%s', and another one took it "
        "over: it is not known whether the block is kept",
        log->link->path, log->name);
}

static void unlock_log(file_log *log)
{
    file_lock_release(&log->mutex, &log->lock);
}

/* Under the lock. */
static gyre_status append_locked(file_log *log, const gyre_transport_block *block, uint64_t *number)
{
    gyre_status status = find_end(log);
    const uint64_t next = log->end.file < 0 ? 1 : log->end.next;
    if (status != GYRE_OK)
        return status;
    if (block->expected != GYRE_TRANSPORT_ANY && block->expected != next - 1)
        return log->link->host->error(GYRE_AGAIN,
                                      "the cluster's log '%s' ends with block %llu, expected %llu", log->name,
                                      (unsigned long long)(next - 1), (unsigned long long)block->expected);
    if (log->end.file < 0 || log->end.offset >= FILE_SEGMENT_SIZE)
        status = next_segment(log, next);
    if (status == GYRE_OK && log->link->sync && log->end.offset == 0 && fsync(log->folder) != 0)
        status = file_failed(log->link, "bring to the disk the folder of the log", log->name);
    if (status == GYRE_OK)
        status = write_block(log, block);
    *number = next;
    return status == GYRE_OK ? check_counts(log) : status;
}

/* Takes the log's mutex and lock; both or none. */
static gyre_status lock_log(file_log *log)
{
    gyre_status status = file_lock_take(log->link, &log->mutex, &log->lock, log->name);
    if (status != GYRE_OK || log->lock.is_mended)
        return status;
    status = file_segment_renew(log);
    if (status == GYRE_OK)
        status = file_lock_mended(log->link, &log->lock, log->name);
    if (status != GYRE_OK)
        unlock_log(log);
    return status;
}

gyre_status file_append(gyre_transport_link *link, const char *name, const gyre_transport_block *block,
                        uint64_t *number)
{
    file_log *log;
    gyre_status status = find_log(link, name, &log);
    *number = 0;
    if (status != GYRE_OK)
        return status;
    if (block->byte_count > GYRE_TRANSPORT_BLOCK_MAX)
        return link->host->error(GYRE_INVALID, "a block has at most %u bytes, found %zu",
                                 GYRE_TRANSPORT_BLOCK_MAX, block->byte_count);
    status = lock_log(log);
    if (status == GYRE_OK) {
        status = append_locked(log, block, number);
        unlock_log(log);
    }
    if (status == GYRE_OK)
        ring_bell(link, name);
    return status;
}

gyre_status file_last(gyre_transport_link *link, const char *name, uint64_t *number)
{
    file_log *log;
    gyre_status status = find_log(link, name, &log);
    *number = 0;
    if (status != GYRE_OK)
        return status;
    status = lock_log(log);
    if (status == GYRE_OK) {
        status = find_end(log);
        *number = status == GYRE_OK && log->end.file >= 0 ? log->end.next - 1 : 0;
        unlock_log(log);
    }
    return status;
}

gyre_status file_purge(gyre_transport_link *link, const char *name, uint64_t below)
{
    file_log *log;
    gyre_status status = find_log(link, name, &log);
    if (status != GYRE_OK)
        return status;
    status = lock_log(log);
    if (status == GYRE_OK) {
        status = file_segments_remove(log, below);
        unlock_log(log);
    }
    return status;
}

/* ---- reading ---- */

/* Moves log->reader to the first block behind `after`. *head is its head if it is there. */
static gyre_status find_block(file_log *log, uint64_t after, file_block_head *head, enum file_finding *found)
{
    gyre_status status = GYRE_OK;
    bool moved = true;
    *found = FILE_NOTHING;
    if (log->reader.file < 0 || log->reader.next > after + 1 || log->reader.next < log->reader.base)
        status = file_place_open(log, &log->reader, after + 1);
    while (status == GYRE_OK && moved) {
        while ((status = file_head_read(log, &log->reader, head, found)) == GYRE_OK && *found == FILE_FOUND &&
               head->number <= after)
            file_place_pass(&log->reader, head);
        moved = false;
        if (status == GYRE_OK && *found == FILE_NOTHING)
            status = file_place_go_on(log, &log->reader, &moved);
    }
    return status;
}

/* The segment of the reader was purged or sealed: what follows is elsewhere. */
static bool is_stranded(const file_log *log)
{
    return log->reader.file >= 0 && file_place_is_stale(&log->reader);
}

static gyre_status find_again(file_log *log, uint64_t after, file_block_head *head, enum file_finding *found)
{
    gyre_status status = find_block(log, after, head, found);
    if (status == GYRE_OK && *found == FILE_NOTHING && is_stranded(log)) {
        file_place_close(&log->reader);
        status = find_block(log, after, head, found);
    }
    return status;
}

static gyre_status copy_block(const file_log *log, const file_block_head *head, void *bytes, size_t room)
{
    if (head->size > room)
        return log->link->host->error(
            GYRE_INVALID, "block %llu of the cluster's log '%s' has %u bytes, expected %zu at most",
            (unsigned long long)head->number, log->name, head->size, room);
    const ssize_t got =
        pread(log->reader.file, bytes, head->size, (off_t)(log->reader.offset + sizeof *head));
    if (got != (ssize_t)head->size)
        return file_failed(log->link, "read the log", log->name);
    if (head->seal != file_seal(head, offsetof(file_block_head, seal), bytes, head->size))
        return log->link->host->error(
            GYRE_INCOMPATIBLE,
            "block %llu of the cluster's log '%s' in '%s' is damaged: its checksum is not that of its bytes: put "
            "back a copy of the folder, or begin with another app in [cluster]",
            (unsigned long long)head->number, log->name, log->link->path);
    return GYRE_OK;
}

static gyre_status read_block(file_log *log, uint64_t after, void *bytes, size_t room, size_t *byte_count,
                              uint64_t *number)
{
    file_block_head head;
    enum file_finding found;
    gyre_status status = find_again(log, after, &head, &found);
    if (status != GYRE_OK || found == FILE_NOTHING)
        return status == GYRE_OK ? GYRE_AGAIN : status;
    status = file_place_settle(log, &log->reader);
    if (status == GYRE_OK)
        status = copy_block(log, &head, bytes, room);
    *byte_count = head.size;
    *number = head.number;
    if (status == GYRE_OK)
        file_place_pass(&log->reader, &head);
    return status;
}

/* An append may have cut off and overwritten a part, or copies the segment: with nobody appending it is told. */
static gyre_status read_with_lock(file_log *log, uint64_t after, void *bytes, size_t room, size_t *byte_count,
                                  uint64_t *number)
{
    gyre_status status = lock_log(log);
    if (status != GYRE_OK)
        return status;
    status = find_end(log); /* renews a segment whose sealer died; damage is told by the read */
    file_place_close(&log->reader);
    if (status == GYRE_OK || status == GYRE_INCOMPATIBLE)
        status = read_block(log, after, bytes, room, byte_count, number);
    unlock_log(log);
    return status;
}

gyre_status file_read(gyre_transport_link *link, const char *name, uint64_t after, void *bytes, size_t room,
                      size_t *byte_count, uint64_t *number)
{
    file_log *log;
    gyre_status status = find_log(link, name, &log);
    *byte_count = 0;
    *number = 0;
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&log->mutex);
    status = read_block(log, after, bytes, room, byte_count, number);
    const bool needs_lock = status == GYRE_INCOMPATIBLE || (status == GYRE_AGAIN && is_stranded(log));
    pthread_mutex_unlock(&log->mutex);
    return needs_lock ? read_with_lock(log, after, bytes, room, byte_count, number) : status;
}

/* Also a segment that is sealed is a finding: `read` goes on from there. */
static gyre_status look_behind(file_log *log, uint64_t after, enum file_finding *found)
{
    file_block_head head;
    pthread_mutex_lock(&log->mutex);
    const gyre_status status = find_again(log, after, &head, found);
    if (status == GYRE_OK && is_stranded(log))
        *found = FILE_FOUND;
    pthread_mutex_unlock(&log->mutex);
    return status;
}

gyre_status file_wait(gyre_transport_link *link, const char *name, uint64_t after, uint64_t deadline_ns)
{
    file_log *log;
    enum file_finding found = FILE_NOTHING;
    gyre_status status = find_log(link, name, &log);
    while (status == GYRE_OK) {
        const uint32_t bell = read_bell(link, name);
        status = look_behind(log, after, &found);
        if (status == GYRE_INCOMPATIBLE)
            return GYRE_OK; /* `read` tells */
        const uint64_t now = link->host->now_ns();
        if (status != GYRE_OK || found == FILE_FOUND)
            break;
        if (now >= deadline_ns)
            return link->host->error(GYRE_TIMEOUT, "nothing was appended to the cluster's log '%s' in time",
                                     name);
        await_bell(link, name, bell, deadline_ns - now < SLICE_NS ? deadline_ns - now : SLICE_NS);
    }
    return status;
}
