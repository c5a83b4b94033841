/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds and keeps compiled kernels in the cache (cache.h). Entries are read and written without a lock: a reader sees
 * a whole file or none. Only eviction takes a lock (entries.c).
 */
#include "core/base/error.h"
#include "core/cache/cache.h"
#include "core/cache/dependencies.h"
#include "core/cache/entries.h"
#include "gyre/lack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- the folder ---- */

__attribute__((format(printf, 2, 3))) static bool trouble(struct gyre_cache *cache, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(cache->trouble, sizeof cache->trouble, format, args);
    va_end(args);
    return false;
}

/* Makes all missing folders of an absolute path, for this user alone. */
static bool make_folders(const char *path)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    if (length >= sizeof part)
        return false;
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0700) == 0 || errno == EEXIST)
            continue;
        int reason = errno; /* a folder on a read-only file system may be there all the same */
        if (access(part, F_OK) != 0) {
            errno = reason;
            return false;
        }
    }
    return true;
}

static bool check_folder(struct gyre_cache *cache)
{
    struct stat folder;
    if (!make_folders(cache->folder))
        return trouble(cache, "the cache folder '%.200s' cannot be made: %s", cache->folder, strerror(errno));
    if (stat(cache->folder, &folder) != 0 || !S_ISDIR(folder.st_mode))
        return trouble(cache, "the cache folder '%.200s' is no folder", cache->folder);
    if (folder.st_uid != geteuid() || (folder.st_mode & 022) != 0)
        return trouble(
            cache,
            "the cache folder '%.200s' can be written by other users, and what is in it is run as code: "
            "make it yours alone (chmod 700)",
            cache->folder);
    return true;
}

void gyre_cache_open(struct gyre_cache *cache, const char *folder, uint64_t size_max)
{
    memset(cache, 0, sizeof *cache);
    cache->size_max = size_max;
    if (!folder || !folder[0] || size_max == 0)
        return;
    int length = snprintf(cache->folder, sizeof cache->folder, "%s/kernels", folder);
    if (length < 0 || (size_t)length >= sizeof cache->folder || folder[0] != '/') {
        trouble(cache, "the cache folder '%.200s' is too long or not absolute", folder);
        return;
    }
    cache->usable = check_folder(cache);
}

/* ---- keys ---- */

void gyre_cache_key(const struct gyre_cache_part *parts, size_t count, char key[GYRE_CACHE_KEY_SIZE])
{
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    for (size_t i = 0; i < count; i++) {
        uint64_t size = parts[i].size;
        XXH3_128bits_update(&state, &size, sizeof size);
        XXH3_128bits_update(&state, parts[i].bytes, parts[i].size);
    }
    XXH128_hash_t hash = XXH3_128bits_digest(&state);
    snprintf(key, GYRE_CACHE_KEY_SIZE, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}

/* ---- finding ---- */

/* Opens an entry and compares its files. Removes a file that is no artifact, or a damaged one: nobody can use it. */
static bool try_entry(const char *path, struct gyre_artifact *artifact)
{
    gyre_status status = gyre_artifact_open(path, artifact);
    if (status == GYRE_INVALID || status == GYRE_FAILED)
        unlink(path);
    if (status != GYRE_OK) {
        gyre_error_clear();
        return false;
    }
    if (gyre_dependencies_unchanged(artifact))
        return true;
    gyre_artifact_close(artifact);
    return false;
}

bool gyre_cache_find(const struct gyre_cache *cache, const char *key, char path[PATH_MAX],
                     struct gyre_artifact *artifact)
{
    char folder[PATH_MAX];
    struct dirent *entry;
    bool found = false;
    memset(artifact, 0, sizeof *artifact);
    if (!cache->usable)
        return false;
    snprintf(folder, sizeof folder, "%s/%s", cache->folder, key);
    DIR *entries = opendir(folder);
    while (entries && !found && (entry = readdir(entries)) != NULL) {
        int length = snprintf(path, PATH_MAX, "%s/%s", folder, entry->d_name);
        found = length > 0 && length < PATH_MAX && gyre_cache_is_entry(entry->d_name) &&
                try_entry(path, artifact);
    }
    if (entries)
        closedir(entries);
    if (found) /* the time of its last use; a folder that cannot be written keeps the old one */
        utimensat(AT_FDCWD, path, NULL, 0);
    else
        path[0] = '\0';
    return found;
}

/* ---- keeping ---- */

static char *complete_note(const struct gyre_cache_item *item)
{
    char *text = NULL;
    size_t size = 0;
    FILE *note = open_memstream(&text, &size);
    if (!note)
        return NULL;
    fputs(item->note, note);
    bool fine = gyre_dependencies_record(item->dependencies, item->unit, &item->started, note);
    fine = fclose(note) == 0 && fine;
    if (!fine) {
        free(text);
        text = NULL;
    }
    return text;
}

/* Names an entry by a hash of all its content. */
static void name_entry(const struct gyre_cache *cache, const struct gyre_cache_item *item, const char *note,
                       char folder[PATH_MAX], char path[PATH_MAX])
{
    char content[GYRE_CACHE_KEY_SIZE];
    struct gyre_cache_part parts[] = {{item->image, item->image_size}, {note, strlen(note)}};
    gyre_cache_key(parts, 2, content);
    snprintf(folder, PATH_MAX, "%s/%s", cache->folder, item->key);
    snprintf(path, PATH_MAX, "%s/%s/%.16s%s", cache->folder, item->key, content, GYRE_CACHE_SUFFIX);
}

bool gyre_cache_store(struct gyre_cache *cache, const struct gyre_cache_item *item, char path[PATH_MAX])
{
    char folder[PATH_MAX];
    path[0] = '\0';
    if (!cache->usable)
        return false;
    char *note = complete_note(item);
    if (!note)
        return trouble(cache, "a file that the kernel includes changed while it was compiled");
    name_entry(cache, item, note, folder, path);
    gyre_status status = GYRE_FAILED;
    for (int attempt = 0; attempt < 2 && status != GYRE_OK;
         attempt++) { /* eviction may take the folder away */
        if (mkdir(folder, 0700) == 0 || errno == EEXIST)
            status = gyre_artifact_write(path, item->image, item->image_size, note);
        else
            status = gyre_error_set(gyre_lack_status(errno, GYRE_FAILED), "'%s' cannot be written: %s%s",
                                    folder, strerror(errno), gyre_lack_remedy(errno));
    }
    free(note);
    if (status != GYRE_OK) {
        rmdir(folder);
        path[0] = '\0';
        trouble(cache, "%.300s", gyre_error_cause());
        gyre_error_clear();
        return false;
    }
    gyre_cache_evict(cache, path);
    return true;
}
