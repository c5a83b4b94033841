/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a journal in a file (file.h). A new file is written beside the old one and renamed over it. With `synced` the
 * folder is forced to the disk, too. A write that failed halfway is cut off again.
 */
#include "core/journal/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/base/file_write.h"
#include "gyre/lack.h"

enum { LOCK_NAP_NS = 5000000 };
#define LOCK_NS      UINT64_C(500000000)
#define LOCK_LEFT_NS UINT64_C(10000000000) /* of a lock that a killed program left to its children */

static gyre_status failed(const struct gyre_journal_file *file, const char *call)
{
    return gyre_error_set(gyre_lack_status(errno, GYRE_FAILED), "the journal '%s': %s says: %s%s", file->path,
                          call, strerror(errno), gyre_lack_remedy(errno));
}

static void close_descriptor(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

/* ---- opening ---- */

/*
 * Makes the path of a file from the program's name of the journal. Most special characters of the name are spelled
 * out.
 */
static char *make_path(const char *folder, const char *name, const char *ending)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t size = strlen(folder) + 3 * strlen(name) + strlen(ending) + 2;
    char *path = malloc(size);
    if (!path)
        return NULL;
    size_t used = (size_t)snprintf(path, size, "%s/", folder);
    for (; *name; name++)
        used +=
            (size_t)snprintf(path + used, size - used, strchr(plain, *name) || *name == '.' ? "%c" : "%%%02x",
                             (unsigned char)*name);
    snprintf(path + used, size - used, "%s", ending);
    return path;
}

void gyre_journal_lock_note(int lock)
{
    char text[24];
    const int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(lock, 0) == 0)
        (void)!pwrite(lock, text, (size_t)length, 0);
}

/* The living process that the lock file names; 0: there is none. A process that ended did not clear what it wrote. */
static pid_t holder_of(int lock)
{
    char said[24] = "";
    const ssize_t length = pread(lock, said, sizeof said - 1, 0);
    char *end = said;
    const long process = length > 0 ? strtol(said, &end, 10) : 0;
    const bool is_one = process > 0 && process <= INT_MAX && *end == '\n';
    return is_one && (kill((pid_t)process, 0) == 0 || errno != ESRCH) ? (pid_t)process : 0;
}

const char *gyre_journal_lock_holder(int lock, char *text, size_t size)
{
    const pid_t process = holder_of(lock);
    if (!process)
        snprintf(text, size, "a program");
    else if (process == getpid())
        snprintf(text, size, "another kernel of this program");
    else
        snprintf(text, size, "process %ld", (long)process);
    return text;
}

static gyre_status take_lock(const char *folder, const char *name, struct gyre_journal_file *out)
{
    char *path = make_path(folder, name, ".lock");
    if (!path)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a journal");
    out->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    free(path);
    if (out->lock < 0)
        return failed(out, "open");
    /* children of a killed program hold the lock until they end, a little later, or on a busy machine seconds later */
    const uint64_t begun_ns = gyre_clock_ns();
    for (;;) {
        if (flock(out->lock, LOCK_EX | LOCK_NB) == 0) {
            gyre_journal_lock_note(out->lock);
            return GYRE_OK;
        }
        if (errno != EWOULDBLOCK)
            return failed(out, "flock");
        if (gyre_clock_ns() - begun_ns >= (holder_of(out->lock) ? LOCK_NS : LOCK_LEFT_NS))
            break;
        nanosleep(&(struct timespec){0, LOCK_NAP_NS}, NULL);
    }
    char holder[48];
    return gyre_error_set(GYRE_AGAIN, "the journal '%s' is in use by %s", out->path,
                          gyre_journal_lock_holder(out->lock, holder, sizeof holder));
}

/*
 * Forces the folder's own entry in its parent to the disk: a loss of power may remove an entry that is not on the
 * disk.
 */
static gyre_status sync_parent(const char *folder, const struct gyre_journal_file *file)
{
    char *copy = strdup(folder);
    int parent = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(copy);
    /* this user may not read the parent: whoever made `folder` there has to see to its entry */
    if (parent < 0 && errno == EACCES)
        return GYRE_OK;
    bool synced = parent >= 0 && fsync(parent) == 0;
    gyre_status status = synced ? GYRE_OK : failed(file, "fsync of the folder's parent");
    if (parent >= 0)
        close(parent);
    return status;
}

static gyre_status open_folder(const char *folder, struct gyre_journal_file *out)
{
    const int made = mkdir(folder, 0700) == 0 ? 0 : errno;
    out->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out->folder < 0)
        return gyre_error_set(
            GYRE_UNAVAILABLE,
            "the folder for journals '%s' can be neither made nor opened: %s; name another one in journal_dir",
            folder,
            strerror(errno == ENOENT && made && made != EEXIST ? made : errno)); /* else it is there */
    return out->synced ? sync_parent(folder, out) : GYRE_OK;
}

/*
 * Opens the journal's earlier file, if there is one. A file that cannot be opened is an error: it would be replaced,
 * and lost.
 */
static gyre_status open_earlier(struct gyre_journal_file *out)
{
    struct stat about;
    if (GYRE_FAULT_POINT(JOURNAL_OPEN))
        return failed(out, "open");
    out->file = open(out->path, O_RDWR | O_CLOEXEC);
    if (out->file >= 0 || (errno == ENOENT && lstat(out->path, &about) != 0 && errno == ENOENT))
        return GYRE_OK;
    return failed(out, "open"); /* also when the path is a link whose target is missing */
}

gyre_status gyre_journal_file_open(const char *folder, const char *name, bool synced,
                                   struct gyre_journal_file *out)
{
    *out = (struct gyre_journal_file){.folder = -1, .lock = -1, .file = -1, .old = -1, .synced = synced};
    out->path = make_path(folder, name, ".journal");
    out->new_path = make_path(folder, name, ".journal.new");
    if (!out->path || !out->new_path) {
        gyre_journal_file_close(out);
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a journal");
    }
    gyre_status status = open_folder(folder, out);
    if (status == GYRE_OK)
        status = take_lock(folder, name, out);
    if (status == GYRE_OK)
        status = open_earlier(out);
    if (status != GYRE_OK)
        gyre_journal_file_close(out);
    return status;
}

void gyre_journal_file_close(struct gyre_journal_file *file)
{
    if (!file->path && !file->new_path)
        return;
    close_descriptor(&file->file);
    close_descriptor(&file->old);
    close_descriptor(&file->folder);
    close_descriptor(&file->lock);
    free(file->path);
    free(file->new_path);
    file->path = file->new_path = NULL;
}

/* Reads `size` bytes at `at`, or as many as there are. Returns how many; -1: they cannot be read. */
static ssize_t read_at(int file, unsigned char *bytes, size_t size, off_t at)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t got = pread(file, bytes + done, size - done, at + (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

gyre_status gyre_journal_file_read(const struct gyre_journal_file *file, unsigned char **data, size_t *size)
{
    struct stat now;
    *data = NULL;
    *size = 0;
    if (file->file < 0)
        return gyre_error_set(GYRE_NOT_FOUND, "there is no journal '%s'", file->path);
    if (GYRE_FAULT_POINT(JOURNAL_READ) || fstat(file->file, &now) != 0)
        return failed(file, "fstat");
    unsigned char *bytes = malloc((size_t)now.st_size + 1);
    if (!bytes)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to read the journal '%s'", file->path);
    const ssize_t got = read_at(file->file, bytes, (size_t)now.st_size, 0);
    if (got < 0) { /* a file that cannot be read now is not lost, so no new file may take its place */
        gyre_status status = failed(file, "read");
        free(bytes);
        return status;
    }
    *size = (size_t)got;
    *data = bytes;
    return GYRE_OK;
}

/* ---- the disk ---- */

/* Writes as pwrite does, and fails where a test injects a fault. */
static ssize_t write_some(const struct gyre_journal_file *file, const void *from, size_t size, off_t at)
{
    int fault = GYRE_FAULT_POINT(JOURNAL_WRITE);
    if (fault > 0)
        return -1;
    const size_t count = fault == GYRE_FAULT_DO_HALF ? (size + 1) / 2 : size;
    ssize_t wrote = gyre_file_write_at(file->file, from, count, at);
    (void)GYRE_FAULT_POINT(JOURNAL_WROTE);
    return wrote;
}

static bool is_shorter(const struct gyre_journal_file *file)
{
    struct stat now;
    return fstat(file->file, &now) == 0 && (uint64_t)now.st_size < file->size + file->tail_size;
}

/* Undoes a write that failed: writes the tail (the mark that stood behind the end) again, and cuts off what follows. */
static void take_write_back(const struct gyre_journal_file *file, gyre_status status)
{
    const off_t end = (off_t)file->size;
    size_t done = 0;
    while (done < file->tail_size) {
        ssize_t wrote =
            gyre_file_write_at(file->file, file->tail + done, file->tail_size - done, end + (off_t)done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            break;
        done += (size_t)wrote;
    }
    if (ftruncate(file->file, end + (off_t)done) != 0)
        gyre_error_add(status, "and it could not be cut back: %s", strerror(errno));
}

/*
 * Whether the bytes of the append before this one are gone. After a cut that came between the look at the size and the write,
 * the file is as long as expected again, and a hole is where these bytes were.
 */
static bool has_hole(const struct gyre_journal_file *file)
{
    unsigned char now[sizeof file->seen];
    return file->seen_size != 0 &&
           (read_at(file->file, now, file->seen_size, (off_t)file->seen_at) != (ssize_t)file->seen_size ||
            memcmp(now, file->seen, file->seen_size) != 0);
}

/* Remembers the first of `size` bytes at the file's end, which stay there. A record begins with bytes that are not all zero. */
static void note_append(struct gyre_journal_file *file, const unsigned char *bytes, size_t size)
{
    if (size == 0)
        return;
    file->seen_at = file->size;
    file->seen_size = size < sizeof file->seen ? size : sizeof file->seen;
    memcpy(file->seen, bytes, file->seen_size);
}

static gyre_status file_append(void *context, const void *bytes, size_t size, size_t tail)
{
    struct gyre_journal_file *file = context;
    const unsigned char *from = bytes;
    size_t done = 0;
    file->cut = file->cut || is_shorter(file);
    while (done < size) {
        ssize_t wrote = write_some(file, from + done, size - done, (off_t)(file->size + done));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            gyre_status status = failed(file, "write");
            take_write_back(file, status);
            return status;
        }
        done += (size_t)wrote;
    }
    file->cut = file->cut || has_hole(file);
    note_append(file, from, size - tail);
    file->size += size - tail;
    file->tail_size = tail;
    memcpy(file->tail, from + size - tail, tail);
    return GYRE_OK;
}

/* Whether the journal's path leads to another file, or to none. False where the path cannot be looked up. */
static bool is_elsewhere(const struct gyre_journal_file *file, const struct stat *now)
{
    struct stat named;
    if (stat(file->path, &named) != 0)
        return errno == ENOENT;
    return named.st_dev != now->st_dev || named.st_ino != now->st_ino;
}

/*
 * Checks that the next run will find this file at its path, and not cut. Otherwise what is written to it is not
 * durable.
 */
static gyre_status check_place(const struct gyre_journal_file *file)
{
    struct stat now;
    if (fstat(file->file, &now) != 0)
        return failed(file, "fstat");
    const bool there = !is_elsewhere(file, &now);
    if (there && !file->cut)
        return GYRE_OK;
    return gyre_error_set(GYRE_FAILED, "the journal '%s' was %s while it is in use; it is written anew",
                          file->path,
                          now.st_nlink == 0 ? "removed"
                          : there           ? "cut off"
                                            : "moved or replaced");
}

static gyre_status file_sync(void *context)
{
    struct gyre_journal_file *file = context;
    gyre_status status = check_place(file);
    if (status != GYRE_OK)
        return status;
    if (GYRE_FAULT_POINT(JOURNAL_SYNC) || (file->renamed && fsync(file->folder) != 0))
        return failed(file, "fsync");
    file->renamed = false;
    return fdatasync(file->file) == 0 ? GYRE_OK : failed(file, "fdatasync");
}

/*
 * Opens the new file. A new file that an earlier run left is removed, not emptied: it may be a link to the journal or
 * a backup.
 */
static int open_new(const struct gyre_journal_file *file)
{
    static const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
    int fresh = open(file->new_path, flags, 0600);
    if (fresh < 0 && errno == EEXIST && unlink(file->new_path) == 0)
        fresh = open(file->new_path, flags, 0600);
    return fresh;
}

static gyre_status file_begin_anew(void *context)
{
    struct gyre_journal_file *file = context;
    if (GYRE_FAULT_POINT(JOURNAL_RENEW))
        return failed(file, "open");
    int fresh = open_new(file);
    if (fresh < 0)
        return gyre_error_add(failed(file, "open"), "a new file, '%s', cannot take its place",
                              file->new_path);
    file->old = file->file;
    file->old_size = file->size;
    file->old_tail_size = file->tail_size;
    memcpy(file->old_tail, file->tail, sizeof file->tail);
    file->file = fresh;
    file->size = file->tail_size = file->seen_size = 0;
    return GYRE_OK;
}

static void take_back(struct gyre_journal_file *file)
{
    close_descriptor(&file->file);
    unlink(file->new_path);
    file->file = file->old;
    file->size = file->old_size;
    file->tail_size = file->old_tail_size;
    memcpy(file->tail, file->old_tail, sizeof file->tail);
    file->seen_size = 0;
    file->old = -1;
}

static gyre_status file_end_anew(void *context, bool keep)
{
    struct gyre_journal_file *file = context;
    gyre_status status = GYRE_OK;
    if (keep && file->synced && fsync(file->file) != 0)
        status = failed(file, "fsync");
    if (keep && status == GYRE_OK &&
        (GYRE_FAULT_POINT(JOURNAL_RENAME) || rename(file->new_path, file->path) != 0))
        status = failed(file, "rename");
    if (!keep || status != GYRE_OK) {
        take_back(file);
        return status;
    }
    close_descriptor(&file->old);
    file->renamed = true;
    file->cut = false;
    return GYRE_OK;
}

const struct gyre_journal_disk gyre_journal_file_disk = {
    .append = file_append,
    .sync = file_sync,
    .begin_anew = file_begin_anew,
    .end_anew = file_end_anew,
};
