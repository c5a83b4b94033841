/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the folders of observation files (observation_folder.h). No state, no locks. */
#include "core/observation/observation_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIELDS_BETWEEN = 18 }; /* of /proc/PID/stat, between the state and the start time */

bool gyre_observation_folder(const char *configured, unsigned which, char path[GYRE_OBSERVATION_PATH_MAX])
{
    const char *session = getenv("XDG_RUNTIME_DIR");
    const bool has_session = session && session[0] == '/';
    int length = -1;
    if (configured[0] && which == 0)
        length = snprintf(path, GYRE_OBSERVATION_PATH_MAX, "%s", configured);
    else if (!configured[0] && has_session && which == 0)
        length = snprintf(path, GYRE_OBSERVATION_PATH_MAX, "%s/gyre", session);
    else if (!configured[0] && which == (has_session ? 1 : 0))
        length = snprintf(path, GYRE_OBSERVATION_PATH_MAX, "/dev/shm/gyre-%u", (unsigned)geteuid());
    return length > 0 && length < GYRE_OBSERVATION_PATH_MAX;
}

int gyre_observation_folder_open(const char *configured, const char *path, bool make)
{
    struct stat about;
    if (make && mkdir(path, S_IRWXU) != 0 && errno != EEXIST)
        return -1;
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (configured[0] ? 0 : O_NOFOLLOW));
    if (folder < 0)
        return -1;
    const bool own =
        fstat(folder, &about) == 0 && about.st_uid == geteuid() && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    if (own || configured[0])
        return folder;
    close(folder);
    errno = EPERM;
    return -1;
}

/* Reads a decimal number without a sign. NULL: there is none. */
static const char *read_number(const char *text, uint64_t *number)
{
    char *end;
    if (*text < '0' || *text > '9')
        return NULL;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno ? NULL : end;
}

bool gyre_observation_file_name(const char *name, pid_t *pid, uint64_t *start)
{
    uint64_t number = 0;
    const char *end = read_number(name, &number);
    if (!end || *end != '-' || number == 0 || number > INT32_MAX)
        return false;
    *pid = (pid_t)number;
    end = read_number(end + 1, start);
    return end && strcmp(end, ".obs") == 0;
}

bool gyre_observation_process(pid_t pid, uint64_t *start, char *state)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (length <= 0)
        return false;
    text[length] = '\0';
    const char *at = strrchr(text, ')'); /* the name before it may hold anything */
    if (!at || at[1] != ' ' || !at[2])
        return false;
    *state = at[2];
    at += 3;
    for (int i = 0; i < FIELDS_BETWEEN && at; i++)
        at = strchr(at + 1, ' ');
    return at && read_number(at + 1, start);
}

bool gyre_observation_is_written(int file)
{
    if (flock(file, LOCK_SH | LOCK_NB) != 0)
        return true; /* also where a file system cannot tell: nobody removes what may be written */
    flock(file, LOCK_UN);
    return false;
}

bool gyre_observation_ask_path(const char *file, char path[GYRE_OBSERVATION_PATH_MAX])
{
    static const char end[] = ".obs";
    const size_t length = strlen(file);
    if (length < sizeof end || strcmp(file + length - (sizeof end - 1), end) != 0)
        return false;
    return snprintf(path, GYRE_OBSERVATION_PATH_MAX, "%.*s.trace", (int)(length - (sizeof end - 1)), file) <
           GYRE_OBSERVATION_PATH_MAX;
}

bool gyre_observation_ask_counts(int file)
{
    struct stat about;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    /* a second name would make a file that somebody locks for other reasons into one that asks */
    return fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink == 1 &&
           (about.st_uid == geteuid() || about.st_uid == 0) && fcntl(file, F_OFD_GETLK, &lock) == 0 &&
           lock.l_type != F_UNLCK;
}
