/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks another process for spans (observed.h), by a lock on a file beside its observation file (observation_trace.c). The lock is one of
 * an open file, which goes with its reader however that ends, and which several readers may have.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/observation/observation_folder.h"
#include "core/observation/observed.h"

enum { TRIES = 16 }; /* a reader that ends may remove the file that this one has just opened */

/* Whether the path still leads to the open file. */
static bool is_there(const char *path, int file)
{
    struct stat named, opened;
    return lstat(path, &named) == 0 && fstat(file, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
}

/* Opens the file and takes the lock. -1 with errno; EAGAIN: another try may help. */
static int open_locked(const char *path)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    const int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0)
        return -1;
    int error = fcntl(file, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
    if (!error && !is_there(path, file))
        error = EAGAIN;
    if (!error)
        return file;
    close(file);
    errno = error;
    return -1;
}

gyre_status gyre_observed_ask(const char *path, int *out)
{
    char asks[GYRE_OBSERVATION_PATH_MAX];
    *out = -1;
    if (!gyre_observation_ask_path(path, asks))
        return gyre_error_set(GYRE_INVALID, "'%s': expected the path of an observation file, PID-START.obs",
                              path);
    for (int i = 0; i < TRIES && *out < 0; i++) {
        *out = open_locked(asks);
        if (*out < 0 && errno != EAGAIN)
            break;
    }
    if (*out >= 0)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_UNAVAILABLE,
        "cannot ask for a trace with '%s': %s; only the user of the process and root can, and a "
        "process with observe.trace = always needs not be asked",
        asks, strerror(errno));
}

void gyre_observed_ask_end(const char *path, int asked)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char asks[GYRE_OBSERVATION_PATH_MAX];
    if (asked < 0)
        return;
    if (fcntl(asked, F_OFD_SETLK, &lock) == 0 && gyre_observation_ask_path(path, asks) &&
        is_there(asks, asked))
        unlink(asks);
    close(asked);
}
