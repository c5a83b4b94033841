/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets a tool read and replace a journal's file (visit.h). Takes the lock that programs take (file.c): a file with the
 * journal's name and the ending .lock.
 */
#include "core/journal/visit.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/journal/file.h"
#include "gyre/lack.h"

static gyre_status failed(const char *path, const char *call)
{
    const gyre_status status = errno == ENOENT ? GYRE_NOT_FOUND : gyre_lack_status(errno, GYRE_UNAVAILABLE);
    return gyre_error_set(status, "the journal '%s': %s says: %s%s", path, call, strerror(errno),
                          gyre_lack_remedy(errno));
}

/* Names the lock file. False: the path does not end in .journal, so it is a copy, and no program opens it. */
static bool name_lock(const char *path, char *lock, size_t size)
{
    static const char ending[] = ".journal";
    const size_t length = strlen(path), least = sizeof ending - 1;
    if (length <= least || strcmp(path + length - least, ending) != 0)
        return false;
    return (size_t)snprintf(lock, size, "%.*s.lock", (int)(length - least), path) < size;
}

static gyre_status take_lock(const char *path, bool makes_lock, int *out)
{
    char name[PATH_MAX];
    if (!name_lock(path, name, sizeof name))
        return GYRE_OK;
    /* O_NONBLOCK: the open of a FIFO returns at once */
    *out = open(name, makes_lock ? O_RDWR | O_CREAT | O_CLOEXEC : O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0600);
    if (*out < 0 && errno == ENOENT && !makes_lock)
        return GYRE_OK; /* a program that opens the journal makes the lock file */
    if (*out < 0)
        return failed(path, "opening its lock");
    if (flock(*out, LOCK_EX | LOCK_NB) == 0) {
        if (makes_lock)
            gyre_journal_lock_note(*out);
        return GYRE_OK;
    }
    if (errno != EWOULDBLOCK)
        return failed(path, "flock");
    char holder[48];
    return gyre_error_set(
        GYRE_AGAIN, "the journal '%s' is in use by %s: end that one first, or look at a copy of the file",
        path, gyre_journal_lock_holder(*out, holder, sizeof holder));
}

static gyre_status read_all(const char *path, int file, struct gyre_journal_visit *visit)
{
    struct stat about;
    if (fstat(file, &about) != 0)
        return failed(path, "fstat");
    if (!S_ISREG(about.st_mode))
        return gyre_error_set(GYRE_INVALID, "'%s' is no regular file: expected a journal", path);
    visit->data = malloc((size_t)about.st_size + 1);
    if (!visit->data)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to read the %lld bytes of the journal '%s'",
                              (long long)about.st_size, path);
    const ssize_t length = gyre_file_read(file, (char *)visit->data, (size_t)about.st_size);
    if (length < 0)
        return failed(path, "read");
    visit->size = (size_t)length;
    return GYRE_OK;
}

gyre_status gyre_journal_visit_begin(const char *path, bool makes_lock, struct gyre_journal_visit *out)
{
    *out = (struct gyre_journal_visit){.lock = -1, .path = strdup(path)};
    if (!out->path)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to read a journal");
    /* non-blocking, so that a pipe does not hold this up before it is refused */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return failed(path, "open");
    gyre_status status = take_lock(path, makes_lock, &out->lock);
    if (status == GYRE_OK)
        status = read_all(path, file, out);
    close(file);
    return status;
}

void gyre_journal_visit_end(struct gyre_journal_visit *visit)
{
    if (visit->lock >= 0)
        close(visit->lock);
    free(visit->path);
    free(visit->data);
    *visit = (struct gyre_journal_visit){.lock = -1};
}

/* ---- writing ---- */

static bool write_all(int file, const unsigned char *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t wrote = write(file, bytes + done, size - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        done += (size_t)wrote;
    }
    return fsync(file) == 0;
}

/* Forces the file's folder to the disk. Does nothing where this user may not open the folder. */
static void sync_folder(const char *path)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path);
    const int folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return;
    (void)fsync(folder);
    close(folder);
}

gyre_status gyre_journal_write_file(const char *path, const void *bytes, size_t size)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 && errno == EEXIST)
        return gyre_error_set(GYRE_INVALID, "'%s' is there already: name another file, or move it away",
                              path);
    if (file < 0)
        return failed(path, "open");
    gyre_status status = write_all(file, bytes, size) ? GYRE_OK : failed(path, "write");
    close(file);
    if (status == GYRE_OK)
        sync_folder(path);
    else
        unlink(path);
    return status;
}

/* At every moment a whole journal is at the path: the new file is written beside it, and then renamed over it. */
gyre_status gyre_journal_visit_replace(const struct gyre_journal_visit *visit, const void *bytes, size_t size)
{
    char fresh[PATH_MAX], before[PATH_MAX];
    const int lengths[] = {snprintf(fresh, sizeof fresh, "%s.after", visit->path),
                           snprintf(before, sizeof before, "%s.before", visit->path)};
    if (lengths[0] >= PATH_MAX || lengths[1] >= PATH_MAX)
        return gyre_error_set(GYRE_INVALID, "the path '%s' is too long to keep what was there beside it",
                              visit->path);
    gyre_status status = gyre_journal_write_file(fresh, bytes, size);
    if (status != GYRE_OK)
        return status;
    if (link(visit->path, before) != 0)
        status = errno == EEXIST ? gyre_error_set(GYRE_INVALID,
                                                  "'%s' is there already, which is what the journal would be "
                                                  "kept as: move it away",
                                                  before)
                                 : failed(visit->path, "link");
    else if (rename(fresh, visit->path) != 0)
        status = failed(visit->path, "rename");
    if (status != GYRE_OK)
        unlink(fresh);
    else
        sync_folder(visit->path);
    return status;
}
