/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks that outlive a holder who is stopped (file_transport.h). A process that dies lets its locks go; one that is stopped, frozen or
 * waits for its disk does not, and would stop everybody. So a lock has generations, each a file: who waited for too long makes the next
 * one, which succeeds for one process alone, and from then on that file is the lock.
 *
 * The earlier holder does not know and goes on one day. It may not undo what others did meanwhile, so whoever holds a new generation
 * first takes away what the earlier one could write to: the segment that it may have open is sealed and copied, the file that it was
 * about to rename is removed. A holder makes such a file first and asks file_lock_is_lost then: either it sees the new generation, or
 * the new generation sees its file.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "file_transport.h"

enum { LOCK_NAME_SIZE = 64 };

static void name_lock(char name[LOCK_NAME_SIZE], const file_lock *lock, uint64_t generation)
{
    if (generation)
        snprintf(name, LOCK_NAME_SIZE, "%s.%" PRIu64, lock->name, generation);
    else
        snprintf(name, LOCK_NAME_SIZE, "%s", lock->name);
}

static bool is_there(const file_lock *lock, uint64_t generation)
{
    char name[LOCK_NAME_SIZE];
    name_lock(name, lock, generation);
    return faccessat(lock->folder, name, F_OK, 0) == 0;
}

/* Goes to a later generation, which is there. */
static gyre_status go_on(const gyre_transport_link *link, file_lock *lock, uint64_t generation)
{
    char name[LOCK_NAME_SIZE];
    name_lock(name, lock, generation);
    const int file = openat(lock->folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
        return file_failed(link, "open", name);
    close(lock->file);
    lock->file = file;
    lock->generation = generation;
    lock->is_mended = false;
    return GYRE_OK;
}

static gyre_status find_latest(const gyre_transport_link *link, file_lock *lock)
{
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && is_there(lock, lock->generation + 1))
        status = go_on(link, lock, lock->generation + 1);
    return status;
}

gyre_status file_lock_open(const gyre_transport_link *link, file_lock *lock, int folder, const char *name)
{
    *lock = (file_lock){
        .folder = folder, .name = name, .file = file_open_made(link, folder, name), .is_mended = true};
    return lock->file < 0 ? GYRE_UNAVAILABLE : find_latest(link, lock);
}

void file_lock_close(file_lock *lock)
{
    if (lock->file >= 0)
        close(lock->file);
    lock->file = -1;
}

static gyre_status held_too_long(const gyre_transport_link *link, const char *told)
{
    return link->host->error(
        GYRE_UNAVAILABLE,
        "the cluster's folder '%s': other processes hold the lock of '%s' for longer than reach_ms of [cluster], "
        "%llu ms: look for processes that are stopped, and let them go on or end them",
        link->path, told, (unsigned long long)(link->reach_ns / 1000000));
}

/*
 * How long a lock may be held by others before it is taken over. A holder writes a block into the system's memory, which is done in far
 * less than this; with `sync` it waits for a disk, and one that starts again and again leaves others little time between.
 */
static uint64_t patience_ns(const gyre_transport_link *link)
{
    static const uint64_t longest_ns = UINT64_C(1000000000);
    return link->sync || link->reach_ns / 2 < longest_ns ? link->reach_ns / 2 : longest_ns;
}

/* Begins the next generation, or sees that another process did. */
static gyre_status take_over(const gyre_transport_link *link, file_lock *lock, const char *told)
{
    char name[LOCK_NAME_SIZE], text[FILE_PATH_MAX + 256];
    name_lock(name, lock, lock->generation + 1);
    const int file = openat(lock->folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return errno == EEXIST ? GYRE_OK : file_failed(link, "take over the lock", told);
    close(file);
    snprintf(
        text, sizeof text,
        "the cluster's folder '%s': a process holds the lock of '%s' since %llu ms and was passed over; it may be "
        "stopped",
        link->path, told, (unsigned long long)(patience_ns(link) / 1000000));
    link->host->log(link->host->context, GYRE_LOG_WARNING, text);
    return GYRE_OK;
}

/*
 * The lock's file has "1" at its begin once the generation is mended, and behind that a number that each holder changes: who waits sees
 * there whether one holder stands still, or many take turns.
 */
enum { MENDED_AT = 0, TURN_AT = 8 };

static uint64_t read_turn(const file_lock *lock)
{
    uint64_t turn = 0;
    return pread(lock->file, &turn, sizeof turn, TURN_AT) == sizeof turn ? turn : 0;
}

static gyre_status begin_turn(const gyre_transport_link *link, file_lock *lock, const char *told)
{
    char mark = 0;
    const uint64_t turn = link->host->now_ns();
    if (!lock->is_mended)
        lock->is_mended = pread(lock->file, &mark, 1, MENDED_AT) == 1 && mark == '1';
    if (file_write_all(lock->file, &turn, sizeof turn, TURN_AT))
        return GYRE_OK;
    const gyre_status status = file_failed(link, "write the lock", told);
    flock(lock->file, LOCK_UN);
    return status;
}

/* Under the mutex. OK: it is held. AGAIN: another process holds it. */
static gyre_status try_latest(const gyre_transport_link *link, file_lock *lock, const char *told)
{
    for (;;) {
        const uint64_t generation = lock->generation;
        const bool held = flock(lock->file, LOCK_EX | LOCK_NB) == 0;
        if (!held && errno != EINTR && errno != EWOULDBLOCK)
            return file_failed(link, "lock", told);
        const gyre_status status = find_latest(link, lock);
        if (status != GYRE_OK)
            return status;
        if (lock->generation != generation)
            continue; /* the earlier file is closed, and so is its lock */
        if (!held)
            return GYRE_AGAIN;
        return begin_turn(link, lock, told);
    }
}

gyre_status file_lock_take(const gyre_transport_link *link, pthread_mutex_t *mutex, file_lock *lock,
                           const char *told)
{
    enum { FIRST_NAP_NS = 20000, LONGEST_NAP_NS = 1000000 };
    const uint64_t begin = link->host->now_ns();
    uint64_t turn = 0, turn_ns = begin; /* of the holder, and since when it is that */
    bool took_over = false;
    long nap = FIRST_NAP_NS;
    for (;;) {
        pthread_mutex_lock(mutex);
        gyre_status status = try_latest(link, lock, told);
        if (status == GYRE_OK)
            return GYRE_OK;
        const uint64_t now = link->host->now_ns(), turn_now = status == GYRE_AGAIN ? read_turn(lock) : 0;
        turn_ns = turn_now == turn ? turn_ns : now;
        turn = turn_now;
        const bool takes_over = status == GYRE_AGAIN && now - turn_ns >= patience_ns(link);
        if (takes_over && (status = take_over(link, lock, told)) == GYRE_OK)
            status = GYRE_AGAIN;
        pthread_mutex_unlock(mutex); /* readers of this process go on */
        if (status != GYRE_AGAIN)
            return status;
        if (!takes_over && now - begin >= link->reach_ns && (took_over || turn_ns != begin))
            return held_too_long(link, told);
        took_over = took_over || takes_over;
        nanosleep(&(struct timespec){.tv_nsec = takes_over ? 0 : nap}, NULL);
        nap = nap * 2 < LONGEST_NAP_NS ? nap * 2 : LONGEST_NAP_NS;
    }
}

gyre_status file_lock_mended(const gyre_transport_link *link, file_lock *lock, const char *told)
{
    if (!file_write_all(lock->file, "1", 1, MENDED_AT))
        return file_failed(link, "write the lock", told);
    lock->is_mended = true;
    return GYRE_OK;
}

bool file_lock_is_lost(const file_lock *lock)
{
    return is_there(lock, lock->generation + 1);
}

gyre_status file_lock_lost(const gyre_transport_link *link, const char *told)
{
    return link->host->error(
        GYRE_UNAVAILABLE,
        "the cluster's folder '%s': this process stood still while it held the lock of '%s', and "
        "another one took it over; nothing was written",
        link->path, told);
}

void file_lock_release(pthread_mutex_t *mutex, const file_lock *lock)
{
    flock(lock->file, LOCK_UN);
    pthread_mutex_unlock(mutex);
}

void file_new_name(char name[FILE_NEW_NAME_SIZE], uint64_t generation)
{
    snprintf(name, FILE_NEW_NAME_SIZE, ".new.%" PRIu64, generation);
}

gyre_status file_new_remove(const gyre_transport_link *link, int folder, uint64_t generation)
{
    char name[FILE_NEW_NAME_SIZE];
    for (uint64_t i = 0; i < generation; i++) {
        file_new_name(name, i);
        if (unlinkat(folder, name, 0) != 0 && errno != ENOENT)
            return file_failed(link, "remove", name);
    }
    return GYRE_OK;
}
