/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes dumps (observation_dump.h). The memory of the file is copied while other threads write there: readers know records and
 * events that were being written, as they do when they copy the file itself. Only pieces that have pages are copied, the others are
 * holes.
 *
 * One thread at a time: the watchdog's. A dump gets its name when it is whole.
 */
#include "core/observation/observation_dump.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/file_write.h"
#include "core/observation/observation_memory.h"
#include "gyre/lack.h"

enum { DUMPS_MAX = 1024 };

/* ---- where ---- */

static bool state_folder(char path[GYRE_OBSERVATION_PATH_MAX])
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (state && state[0] == '/')
        length = snprintf(path, GYRE_OBSERVATION_PATH_MAX, "%s/gyre", state);
    else if (home && home[0] == '/')
        length = snprintf(path, GYRE_OBSERVATION_PATH_MAX, "%s/.local/state/gyre", home);
    return length > 0 && length < GYRE_OBSERVATION_PATH_MAX;
}

bool gyre_observation_dump_folder(const char *configured, const char *files, unsigned which,
                                  char path[GYRE_OBSERVATION_PATH_MAX])
{
    if (configured[0])
        return which == 0 &&
               snprintf(path, GYRE_OBSERVATION_PATH_MAX, "%s", configured) < GYRE_OBSERVATION_PATH_MAX;
    if (which == 0)
        return state_folder(path);
    return which == 1 && files[0] &&
           snprintf(path, GYRE_OBSERVATION_PATH_MAX, "%s", files) < GYRE_OBSERVATION_PATH_MAX;
}

/* Behind a decimal number and `end`; NULL where something else stands there. */
static const char *behind_number(const char *at, char end)
{
    const char *const begin = at;
    while (at && isdigit((unsigned char)*at))
        at++;
    return at && at != begin && *at == end ? at + 1 : NULL;
}

bool gyre_observation_dump_name(const char *name)
{
    const char *at = behind_number(behind_number(behind_number(name, '-'), '-'), '.');
    return at && strcmp(at, "dump") == 0;
}

/* Makes the folder, and those above it, for its owner alone. */
static void make_folders(const char *path)
{
    char part[GYRE_OBSERVATION_PATH_MAX];
    snprintf(part, sizeof part, "%s", path);
    for (char *at = part + 1; *at; at++)
        if (*at == '/') {
            *at = '\0';
            mkdir(part, S_IRWXU);
            *at = '/';
        }
    mkdir(part, S_IRWXU);
}

/* ---- the oldest ---- */

struct dump {
    char name[80];
    struct timespec written;
};

static int newest_first(const void *one, const void *other)
{
    const struct timespec *a = &((const struct dump *)one)->written,
                          *b = &((const struct dump *)other)->written;
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? 1 : -1;
    return (a->tv_nsec < b->tv_nsec) - (a->tv_nsec > b->tv_nsec);
}

static size_t list_dumps(int folder, struct dump *dumps)
{
    size_t count = 0;
    struct stat about;
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = copy < 0 ? NULL : fdopendir(copy);
    for (const struct dirent *entry; files && count < DUMPS_MAX && (entry = readdir(files));) {
        if (strlen(entry->d_name) >= sizeof dumps->name || !gyre_observation_dump_name(entry->d_name) ||
            fstatat(folder, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(about.st_mode) ||
            about.st_uid != geteuid())
            continue;
        snprintf(dumps[count].name, sizeof dumps->name, "%s", entry->d_name);
        dumps[count++].written = about.st_mtim;
    }
    if (files)
        closedir(files);
    else if (copy >= 0)
        close(copy);
    return count;
}

static void remove_oldest(int folder, unsigned keep)
{
    struct dump *dumps = calloc(DUMPS_MAX, sizeof *dumps);
    if (!dumps)
        return;
    const size_t count = list_dumps(folder, dumps);
    qsort(dumps, count, sizeof *dumps, newest_first);
    for (size_t i = keep; i < count; i++)
        unlinkat(folder, dumps[i].name, 0);
    free(dumps);
}

/* ---- the copy ---- */

/* Copies bytes of the memory. A page that somebody cut off the file is an error here, and no signal: the kernel reads it. */
static int copy_range(int file, const unsigned char *memory, size_t offset, size_t size)
{
    while (size) {
        const ssize_t wrote = gyre_file_write_at(file, memory + offset, size, (off_t)offset);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return wrote < 0 ? errno : ENOSPC;
        offset += (size_t)wrote;
        size -= (size_t)wrote;
    }
    return 0;
}

static int copy_memory(int file, struct gyre_observation *observation)
{
    bool backed[GYRE_OBSERVATION_PIECES_MAX];
    int error = 0;
    pthread_mutex_lock(&observation->lock);
    memcpy(backed, observation->backed, sizeof backed);
    pthread_mutex_unlock(&observation->lock);
    for (size_t piece = 0; piece * GYRE_OBSERVATION_PIECE < observation->size && !error; piece++)
        if (backed[piece])
            error =
                copy_range(file, observation->memory, piece * GYRE_OBSERVATION_PIECE, GYRE_OBSERVATION_PIECE);
    struct gyre_file_hush hush;
    gyre_file_hush_begin(&hush);
    if (!error && ftruncate(file, (off_t)observation->size) != 0)
        error = errno;
    gyre_file_hush_end(&hush);
    return error;
}

/* Writes the dump under a name that no reader looks at, and then gives it its own. Returns 0, or an errno. */
static int write_in(int folder, struct gyre_observation *observation, const char *name)
{
    char made[96];
    struct stat about;
    snprintf(made, sizeof made, ".%s", name);
    unlinkat(folder, made, 0);
    const int file =
        openat(folder, made, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0)
        return errno;
    int error = copy_memory(file, observation);
    if (!error && fstat(observation->file, &about) == 0 && fchmod(file, about.st_mode & 0777) != 0)
        error = errno; /* whoever may read the file may read its copy (observe.access) */
    if (close(file) != 0 && !error)
        error = errno;
    if (!error && renameat(folder, made, folder, name) != 0)
        error = errno;
    if (error)
        unlinkat(folder, made, 0);
    return error;
}

static int dump_in(const char *configured, const char *path, struct gyre_observation *observation,
                   unsigned keep, const char *name)
{
    make_folders(path);
    const int folder = gyre_observation_folder_open(configured, path, true);
    if (folder < 0)
        return errno;
    const int error = write_in(folder, observation, name);
    if (!error)
        remove_oldest(folder, keep);
    close(folder);
    return error;
}

gyre_status gyre_observation_dump(struct gyre_observation *observation, const char *configured, unsigned keep,
                                  char path[GYRE_OBSERVATION_PATH_MAX])
{
    char folder[GYRE_OBSERVATION_PATH_MAX] = "", files[GYRE_OBSERVATION_PATH_MAX], name[80];
    int error = ENOENT;
    snprintf(files, sizeof files, "%s", observation->path);
    char *const slash = strrchr(files, '/');
    if (slash)
        *slash = '\0';
    snprintf(name, sizeof name, "%ld-%" PRIu64 "-%u.dump", (long)observation->pid,
             observation->head->process_start, ++observation->dumps);
    for (unsigned which = 0; which < GYRE_OBSERVATION_DUMP_FOLDERS && error; which++) {
        if (!gyre_observation_dump_folder(configured, files, which, folder))
            continue;
        error = dump_in(configured, folder, observation, keep, name);
    }
    if (error)
        return gyre_error_set(
            gyre_lack_status(error, GYRE_UNAVAILABLE),
            "what the process did until now is not kept: no file can be written in '%s' (%s): name "
            "another folder in observe.dumps, or keep none with observe.dumps_keep = 0",
            folder, strerror(error));
    if (snprintf(path, GYRE_OBSERVATION_PATH_MAX, "%s/%s", folder, name) >= GYRE_OBSERVATION_PATH_MAX)
        path[0] = '\0';
    return GYRE_OK;
}
