/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks over all entries of the cache (cache.h), to evict, list or clear them. Lock: flock on FOLDER/lock, which only
 * eviction takes, so that two processes do not both remove the oldest entries. Files may vanish at any time.
 */
#include "core/cache/entries.h"
#include "core/base/error.h"
#include "gyre/lack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STALE_SECONDS = 3600 };

struct stored_file {
    char *path;
    uint64_t size;
    struct timespec used;
};

struct inventory {
    struct stored_file *files;
    size_t count, room;
    uint64_t size;
    bool failed;  /* there was no memory */
    int error;    /* errno of the first folder that could not be read, else 0 */
    char *unread; /* the path of this folder; NULL: no memory for it */
};

bool gyre_cache_is_entry(const char *name)
{
    size_t length = strlen(name), suffix = strlen(GYRE_CACHE_SUFFIX);
    return length > suffix && strcmp(name + length - suffix, GYRE_CACHE_SUFFIX) == 0;
}

static void add_file(struct inventory *inventory, const char *path, const struct stat *file)
{
    if (inventory->count == inventory->room) {
        size_t room = inventory->room ? inventory->room * 2 : 64;
        struct stored_file *grown = realloc(inventory->files, room * sizeof *grown);
        if (!grown) {
            inventory->failed = true;
            return;
        }
        inventory->files = grown;
        inventory->room = room;
    }
    char *copy = strdup(path);
    if (!copy) {
        inventory->failed = true;
        return;
    }
    inventory->files[inventory->count++] =
        (struct stored_file){.path = copy, .size = (uint64_t)file->st_size, .used = file->st_mtim};
    inventory->size += (uint64_t)file->st_size;
}

/* Opens the folder of a key. A folder that has gone, or that is no folder, counts as empty. */
static DIR *open_key(struct inventory *inventory, const char *folder)
{
    DIR *entries = opendir(folder);
    if (!entries && errno != ENOENT && errno != ENOTDIR && !inventory->unread) {
        inventory->error = errno;
        inventory->unread = strdup(folder);
    }
    return entries;
}

/* Removes an old temporary file, which its writer will not finish any more. */
static void drop_stale(const char *path, const struct stat *file)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (file->st_mtim.tv_sec < now.tv_sec - STALE_SECONDS)
        unlink(path);
}

static void take_folder(struct inventory *inventory, const char *folder)
{
    struct dirent *entry;
    DIR *entries = open_key(inventory, folder);
    while (entries && (entry = readdir(entries)) != NULL) {
        char path[PATH_MAX];
        struct stat file;
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (length < 0 || (size_t)length >= sizeof path || lstat(path, &file) != 0 || !S_ISREG(file.st_mode))
            continue;
        if (gyre_cache_is_entry(entry->d_name))
            add_file(inventory, path, &file);
        else if (strstr(entry->d_name, ".tmp"))
            drop_stale(path, &file);
    }
    if (entries)
        closedir(entries);
}

static void take_inventory(const struct gyre_cache *cache, struct inventory *inventory)
{
    struct dirent *entry;
    memset(inventory, 0, sizeof *inventory);
    DIR *folders = cache->usable ? opendir(cache->folder) : NULL;
    if (cache->usable && !folders) {
        inventory->error = errno;
        inventory->unread = strdup(cache->folder);
    }
    while (folders && (entry = readdir(folders)) != NULL) {
        char path[PATH_MAX];
        int length = snprintf(path, sizeof path, "%s/%s", cache->folder, entry->d_name);
        if (entry->d_name[0] != '.' && length > 0 && (size_t)length < sizeof path)
            take_folder(inventory, path);
    }
    if (folders)
        closedir(folders);
}

static void finish_inventory(struct inventory *inventory)
{
    for (size_t i = 0; i < inventory->count; i++)
        free(inventory->files[i].path);
    free(inventory->files);
    free(inventory->unread);
}

static int compare_use(const void *a, const void *b)
{
    const struct timespec *left = &((const struct stored_file *)a)->used;
    const struct timespec *right = &((const struct stored_file *)b)->used;
    if (left->tv_sec != right->tv_sec)
        return left->tv_sec < right->tv_sec ? -1 : 1;
    return (left->tv_nsec > right->tv_nsec) - (left->tv_nsec < right->tv_nsec);
}

/* Removes an entry and, after the last entry of a key, the key's folder. */
static bool remove_file(const char *path)
{
    char folder[PATH_MAX], unit[PATH_MAX];
    if (unlink(path) != 0 && errno != ENOENT)
        return false;
    if (snprintf(unit, sizeof unit, "%s.c", path) < (int)sizeof unit) /* where keep_source put it */
        unlink(unit);
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    rmdir(folder);
    return true;
}

/* ---- eviction ---- */

static void evict_locked(const struct gyre_cache *cache, const char *keep)
{
    struct inventory inventory;
    take_inventory(cache, &inventory);
    if (inventory.size > cache->size_max) {
        uint64_t aim = cache->size_max - cache->size_max / 10; /* some room, so that not every store evicts */
        qsort(inventory.files, inventory.count, sizeof inventory.files[0], compare_use);
        for (size_t i = 0; i < inventory.count && inventory.size > aim; i++)
            if (strcmp(inventory.files[i].path, keep) != 0 && remove_file(inventory.files[i].path))
                inventory.size -= inventory.files[i].size;
    }
    finish_inventory(&inventory);
}

void gyre_cache_evict(const struct gyre_cache *cache, const char *keep)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/lock", cache->folder);
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0)
        return;
    if (flock(lock, LOCK_EX | LOCK_NB) == 0)
        evict_locked(cache, keep);
    close(lock);
}

/* ---- for people ---- */

static void describe(const struct stored_file *file, struct gyre_cache_entry *entry)
{
    struct gyre_artifact artifact;
    memset(entry, 0, sizeof *entry);
    snprintf(entry->path, sizeof entry->path, "%s", file->path);
    entry->size = file->size;
    entry->used_at = file->used.tv_sec;
    entry->damaged = gyre_artifact_open(file->path, &artifact) != GYRE_OK;
    if (entry->damaged) {
        gyre_error_clear();
        return;
    }
    gyre_artifact_note(&artifact, "source", entry->source, sizeof entry->source);
    gyre_artifact_note(&artifact, "backend", entry->backend, sizeof entry->backend);
    gyre_artifact_note(&artifact, "architecture", entry->architecture, sizeof entry->architecture);
    gyre_artifact_note(&artifact, "compiler", entry->compiler, sizeof entry->compiler);
    gyre_artifact_close(&artifact);
}

/* Checks that the walk saw all entries: memory sufficed, and every folder could be read. */
static gyre_status check_inventory(const struct gyre_cache *cache, const struct inventory *inventory)
{
    if (inventory->failed)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to list the cache '%s'", cache->folder);
    if (inventory->error)
        return gyre_error_set(gyre_lack_status(inventory->error, GYRE_FAILED),
                              "the cache folder '%s' cannot be read: %s%s",
                              inventory->unread ? inventory->unread : cache->folder,
                              strerror(inventory->error), gyre_lack_remedy(inventory->error));
    return GYRE_OK;
}

gyre_status gyre_cache_list(const struct gyre_cache *cache, struct gyre_cache_entry **entries, size_t *count)
{
    struct inventory inventory;
    *count = 0;
    take_inventory(cache, &inventory);
    *entries = calloc(inventory.count ? inventory.count : 1, sizeof **entries);
    inventory.failed = inventory.failed || !*entries;
    const gyre_status status = check_inventory(cache, &inventory);
    if (status != GYRE_OK) {
        free(*entries);
        *entries = NULL;
        finish_inventory(&inventory);
        return status;
    }
    if (inventory.count > 0)
        qsort(inventory.files, inventory.count, sizeof inventory.files[0], compare_use);
    for (size_t i = inventory.count; i > 0; i--)
        describe(&inventory.files[i - 1], &(*entries)[(*count)++]);
    finish_inventory(&inventory);
    return GYRE_OK;
}

gyre_status gyre_cache_clear(const struct gyre_cache *cache, size_t *count, uint64_t *size)
{
    struct inventory inventory;
    *count = 0;
    *size = 0;
    take_inventory(cache, &inventory);
    gyre_status status = check_inventory(cache, &inventory);
    for (size_t i = 0; i < inventory.count; i++) {
        if (remove_file(inventory.files[i].path)) {
            (*count)++;
            *size += inventory.files[i].size;
        } else {
            status = gyre_error_set(GYRE_FAILED, "'%s' cannot be removed: %s", inventory.files[i].path,
                                    strerror(errno));
        }
    }
    finish_inventory(&inventory);
    return status;
}
