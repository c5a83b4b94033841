/* SPDX-License-Identifier: Apache-2.0 */
/* Lists observation files (observed.h). No state, no locks. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/observation/observation_dump.h"
#include "core/observation/observation_folder.h"
#include "core/observation/observed.h"
#include "gyre/lack.h"

enum { FILES_MAX = 4096 };

struct found {
    struct gyre_observed_file *files;
    size_t count;
    bool dumps; /* they are looked for, and not files of processes */
};

/* Adds a file whose name is that of an observation file. False without memory. */
static bool add_file(struct found *found, const char *folder, uid_t owner, const char *name)
{
    struct gyre_observed_file file = {.folder_owner = owner};
    if (found->dumps ? !gyre_observation_dump_name(name)
                     : !gyre_observation_file_name(name, &file.pid, &file.start))
        return true;
    struct gyre_observed_file *grown = realloc(found->files, (found->count + 1) * sizeof *grown);
    if (!grown)
        return false;
    found->files = grown;
    if (asprintf(&file.path, "%s/%s", folder, name) < 0)
        return false;
    found->files[found->count++] = file;
    return true;
}

static bool look_in(struct found *found, const char *configured, const char *folder)
{
    bool enough = true;
    struct stat about;
    const int descriptor = gyre_observation_folder_open(configured, folder, false);
    DIR *entries = descriptor < 0 || fstat(descriptor, &about) != 0 ? NULL : fdopendir(descriptor);
    if (!entries) /* a lack says nothing of the folder, which may be full of files */
        enough = gyre_lack_status(errno, GYRE_OK) == GYRE_OK;
    for (const struct dirent *entry;
         enough && entries && found->count < FILES_MAX && (entry = readdir(entries));)
        enough = add_file(found, folder, about.st_uid, entry->d_name);
    if (entries)
        closedir(entries);
    else if (descriptor >= 0)
        close(descriptor);
    return enough;
}

static int by_process(const void *one, const void *other)
{
    const struct gyre_observed_file *a = one, *b = other;
    if (a->pid == 0 && b->pid == 0)
        return strcmp(a->path, b->path); /* dumps */
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

/* Gives what was found to a caller, unless there was not enough memory for it. */
static gyre_status give(struct found *found, bool enough, struct gyre_observed_file **out, size_t *count)
{
    if (!enough) {
        gyre_observed_files_free(found->files, found->count);
        *found = (struct found){0};
    }
    if (found->count)
        qsort(found->files, found->count, sizeof *found->files, by_process);
    *out = found->files;
    *count = found->count;
    return enough
               ? GYRE_OK
               : gyre_error_set(GYRE_EXHAUSTED, "no memory, or no descriptor, to list the observation files");
}

gyre_status gyre_observed_find(const char *configured, struct gyre_observed_file **out, size_t *count)
{
    char folder[GYRE_OBSERVATION_PATH_MAX];
    struct found found = {0};
    bool enough = true;
    for (unsigned which = 0; which < GYRE_OBSERVATION_FOLDERS && enough; which++)
        if (gyre_observation_folder(configured, which, folder))
            enough = look_in(&found, configured, folder);
    return give(&found, enough, out, count);
}

gyre_status gyre_observed_find_dumps(const char *configured, const char *files,
                                     struct gyre_observed_file **out, size_t *count)
{
    char folder[GYRE_OBSERVATION_PATH_MAX], beside[GYRE_OBSERVATION_PATH_MAX];
    struct found found = {.dumps = true};
    bool enough = true;
    if (!configured[0])
        configured = files;
    if (gyre_observation_dump_folder(configured, "", 0, folder))
        enough = look_in(&found, configured, folder);
    for (unsigned which = 0; !configured[0] && which < GYRE_OBSERVATION_FOLDERS && enough; which++)
        if (gyre_observation_folder(files, which, beside))
            enough = look_in(&found, files, beside);
    return give(&found, enough, out, count);
}

void gyre_observed_files_free(struct gyre_observed_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(files[i].path);
    free(files);
}

bool gyre_observed_is_believed(const struct gyre_observed_file *file, const struct gyre_observed *observed)
{
    return observed->owner == geteuid() || observed->owner == 0 || observed->owner == file->folder_owner;
}

bool gyre_observed_folder_refused(const char *configured, char *sentence, size_t size)
{
    char path[GYRE_OBSERVATION_PATH_MAX];
    for (unsigned which = 0; which < GYRE_OBSERVATION_FOLDERS; which++) {
        if (!gyre_observation_folder(configured, which, path))
            continue;
        const int folder = gyre_observation_folder_open(configured, path, false);
        const int error = folder < 0 ? errno : 0;
        if (folder >= 0)
            close(folder);
        if (error == 0 || error == ENOENT)
            continue;
        snprintf(sentence, size, "the folder of observation files '%s' is not read: %s", path,
                 error == EPERM ? "it belongs to another user, or others can write to it" : strerror(error));
        return true;
    }
    return false;
}
