/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds and reads drop-ins (configuration files in folders such as plugins.d). When several folders have a file of the same
 * name, only the file of the last folder counts. A link to the null device also masks earlier files of its name and is not
 * read. No locks: one thread loads.
 */
#include "core/config/settings.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "core/base/error.h"
#include "gyre/lack.h"

static bool is_dropin_name(const char *name)
{
    size_t length = strlen(name);
    return name[0] != '.' && length > 4 && strcmp(name + length - 4, ".ini") == 0;
}

static gyre_status add_manifest(struct gyre_settings *settings, const char *folder, const char *name)
{
    struct gyre_pool *pool = settings->pool;
    struct gyre_config_manifest *grown =
        gyre_pool_grow(pool, settings->manifests, settings->manifest_count, sizeof *grown);
    struct gyre_config_manifest found = {.path = gyre_pool_format(pool, "%s/%s", folder, name),
                                         .folder = folder,
                                         .file = gyre_pool_copy(pool, name, strlen(name)),
                                         .state = GYRE_MANIFEST_READ};
    if (pool->exhausted)
        return gyre_pool_no_memory();
    settings->manifests = grown;
    settings->manifests[settings->manifest_count++] = found;
    return GYRE_OK;
}

/* A file in a usual folder that this user may not read masks no other file. */
static gyre_status add_dropin(struct gyre_settings *settings, const char *folder, const char *name,
                              const char *named_by)
{
    const char *path = gyre_pool_format(settings->pool, "%s/%s", folder, name);
    if (!path)
        return gyre_pool_no_memory();
    if (!named_by && gyre_sources_forbidden(path))
        return gyre_sources_pass_over(settings, path);
    return add_manifest(settings, folder, name);
}

/* Adds the drop-ins of one folder. `named_by`: the origin of the setting that names the folder; NULL: it is a usual place,
 * which may be absent. */
static gyre_status list_folder(struct gyre_settings *settings, const char *folder, const char *named_by)
{
    DIR *stream = opendir(folder);
    if (!stream && !named_by && (errno == ENOENT || errno == ENOTDIR))
        return GYRE_OK;
    if (!stream && !named_by && errno == EACCES)
        return gyre_sources_pass_over(settings, folder);
    if (!stream && named_by)
        return gyre_error_set(gyre_lack_status(errno, GYRE_CONFIG),
                              "%s: the drop-in folder %s cannot be read: %s%s", named_by, folder,
                              strerror(errno), gyre_lack_remedy(errno));
    if (!stream)
        return gyre_error_set(gyre_lack_status(errno, GYRE_CONFIG),
                              "the drop-in folder %s cannot be read: %s%s", folder, strerror(errno),
                              gyre_lack_remedy(errno));
    gyre_status status = GYRE_OK;
    const struct dirent *entry;
    while (status == GYRE_OK && (entry = readdir(stream)))
        if (is_dropin_name(entry->d_name))
            status = add_dropin(settings, folder, entry->d_name, named_by);
    closedir(stream);
    return status;
}

/* Sorts by file name. Stable, so that of files with the same name the file of the later folder comes later. */
static void sort_by_file(struct gyre_config_manifest *manifests, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct gyre_config_manifest moving = manifests[i];
        size_t at = i;
        for (; at > 0 && strcmp(manifests[at - 1].file, moving.file) > 0; at--)
            manifests[at] = manifests[at - 1];
        manifests[at] = moving;
    }
}

static bool is_null_device(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3);
}

static void decide_states(struct gyre_config_manifest *manifests, size_t count)
{
    const char *winner = NULL;
    for (size_t i = count; i-- > 0;) {
        struct gyre_config_manifest *at = &manifests[i];
        if (winner && strcmp(manifests[i + 1].file, at->file) == 0) {
            at->state = GYRE_MANIFEST_MASKED;
            at->by = winner;
            continue;
        }
        winner = at->path;
        if (is_null_device(at->path))
            at->state = GYRE_MANIFEST_DISABLED;
    }
}

static gyre_status list_folders(struct gyre_settings *settings)
{
    const struct gyre_setting *setting = gyre_settings_find(settings, GYRE_SECTION_GYRE, "", "dropin_dir");
    const char *list = setting ? setting->text : settings->folders.dropins;
    gyre_status status = GYRE_OK;
    while (*list && status == GYRE_OK) {
        size_t length = strcspn(list, ":");
        const char *folder = gyre_pool_copy(settings->pool, list, length);
        if (!folder)
            return gyre_pool_no_memory();
        status = list_folder(settings, folder, setting ? setting->origin : NULL);
        list += length + (list[length] == ':');
    }
    return status;
}

static gyre_status warn_of_dropin_dir(struct gyre_settings *settings, size_t first)
{
    gyre_status status = GYRE_OK;
    for (size_t i = first; i < settings->count && status == GYRE_OK; i++) {
        struct gyre_setting *at = &settings->all[i];
        if (at->kind != GYRE_SECTION_GYRE || !at->key || strcmp(at->key, "dropin_dir") != 0)
            continue;
        at->key = NULL;
        status = gyre_settings_warn(settings, "%s: dropin_dir has no effect inside a drop-in, ignored",
                                    at->origin);
    }
    return status;
}

gyre_status gyre_dropins_read(struct gyre_settings *settings)
{
    size_t first = settings->count;
    gyre_status status = list_folders(settings);
    sort_by_file(settings->manifests, settings->manifest_count);
    decide_states(settings->manifests, settings->manifest_count);
    for (size_t i = 0; i < settings->manifest_count && status == GYRE_OK; i++) {
        const struct gyre_config_manifest *at = &settings->manifests[i];
        if (at->state != GYRE_MANIFEST_READ)
            continue;
        status = gyre_sources_read_file(settings, GYRE_LAYER_DROPIN, at->path);
        if (status == GYRE_NOT_FOUND)
            status =
                gyre_error_set(GYRE_CONFIG, "%s: this drop-in leads to no file; remove the link", at->path);
    }
    return status == GYRE_OK ? warn_of_dropin_dir(settings, first) : status;
}
