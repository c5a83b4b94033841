/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes and removes temporary folders (temporary.h). A folder's lock is a flock on the folder itself, so it ends with its
 * process, however that ends. Must not touch other files: it looks only at this user's folders of that name, and not at a
 * folder so new that its maker may still be about to lock it.
 */
#include "core/base/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/error.h"
#include "gyre/lack.h"

#define PREFIX "gyre-work-" /* not "gyre-": /tmp/gyre-UID holds sockets */
enum { NAME_LENGTH = sizeof PREFIX - 1 + 6, NEW_SECONDS = 10, DESCRIPTORS_MAX = 8 };

/* The folder that TMPDIR names, or NULL. */
static const char *named_parent(void)
{
    const char *named = getenv("TMPDIR");
    return named && named[0] == '/' ? named : NULL;
}

static gyre_status no_folder(const char *parent, int reason)
{
    return gyre_error_set(gyre_lack_status(reason, GYRE_FAILED),
                          "no temporary folder can be made in '%s' (%s)%s%s", parent, strerror(reason),
                          gyre_lack_remedy(reason), reason == EMFILE ? "" : ": TMPDIR may name another");
}

/* The folder's descriptor also serves to empty the folder when no other descriptor is free. */
gyre_status gyre_temporary_make(struct gyre_temporary *temporary, const char *parent)
{
    int reason = 0;
    if (named_parent())
        parent = named_parent();
    int length = snprintf(temporary->path, sizeof temporary->path, "%s/" PREFIX "XXXXXX", parent);
    if (length <= 0 || (size_t)length >= sizeof temporary->path)
        reason = ENAMETOOLONG;
    else if (!mkdtemp(temporary->path))
        reason = errno;
    if (!reason) {
        temporary->lock = open(temporary->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        reason = temporary->lock < 0 ? errno : 0;
        if (reason)
            rmdir(temporary->path);
    }
    if (reason) {
        temporary->path[0] = '\0';
        return no_folder(parent, reason);
    }
    /* on a file system without locks, no process can lock the folder to clean it up either */
    flock(temporary->lock, LOCK_EX | LOCK_NB);
    return GYRE_OK;
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about, (void)type, (void)where;
    return remove(path);
}

int gyre_temporary_delete(const char *path)
{
    return nftw(path, remove_one, DESCRIPTORS_MAX, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Removes the files of the open folder. Needs no further descriptor. */
static void empty(DIR *files)
{
    const struct dirent *entry;
    while ((entry = readdir(files)))
        unlinkat(dirfd(files), entry->d_name, 0);
}

void gyre_temporary_remove(struct gyre_temporary *temporary)
{
    if (!temporary->path[0])
        return;
    DIR *files = fdopendir(temporary->lock);
    if (files)
        empty(files);
    if (rmdir(temporary->path) != 0) /* there are folders in it, or there was no memory */
        gyre_temporary_delete(temporary->path);
    if (files)
        closedir(files);
    else
        close(temporary->lock);
    temporary->path[0] = '\0';
}

/* ---- what dead processes left ---- */

static bool is_left(const char *path)
{
    struct stat about;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return false;
    bool left = fstat(folder, &about) == 0 && about.st_uid == geteuid() &&
                about.st_mtime + NEW_SECONDS < time(NULL) && flock(folder, LOCK_EX | LOCK_NB) == 0;
    close(folder);
    return left;
}

static void look_in(const char *parent, void (*tell)(void *context, const char *path), void *context)
{
    char path[GYRE_TEMPORARY_MAX];
    DIR *folders = opendir(parent);
    for (struct dirent *entry; folders && (entry = readdir(folders));) {
        int length = snprintf(path, sizeof path, "%s/%s", parent, entry->d_name);
        bool named =
            strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) == 0 && strlen(entry->d_name) == NAME_LENGTH;
        if (named && length > 0 && (size_t)length < sizeof path && is_left(path))
            tell(context, path);
    }
    if (folders)
        closedir(folders);
}

void gyre_temporary_each_left(void (*tell)(void *context, const char *path), void *context)
{
    if (named_parent()) {
        look_in(named_parent(), tell, context);
        return;
    }
    look_in("/tmp", tell, context);
    look_in("/var/tmp", tell, context);
}

static void remove_left(void *context, const char *path)
{
    (void)context;
    gyre_temporary_delete(path);
}

static void sweep(void)
{
    gyre_temporary_each_left(remove_left, NULL);
}

void gyre_temporary_sweep(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, sweep);
}
