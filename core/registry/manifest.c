/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists backends from the configuration and the plugin folders (manifest.h). Takes no lock, because nobody changes the
 * configuration. Must not open a plugin: every start of a program lists the backends.
 */
#include "core/registry/manifest.h"
#include "core/base/error.h"
#include "core/config/config.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char prefix[] = "gyre-", suffix[] = ".so";

struct list {
    const struct gyre_config *config;
    struct gyre_manifest *items;
    size_t count, capacity;
};

static gyre_status no_memory(void)
{
    return gyre_error_set(GYRE_EXHAUSTED, "no memory to list the backends");
}

static void release(struct gyre_manifest *manifest)
{
    free(manifest->name);
    free(manifest->library);
    free(manifest->parameters);
}

/* ---- folders ---- */

/* Takes the next folder of a list separated by ':'. False at the end. */
static bool next_folder(const char **rest, char folder[PATH_MAX])
{
    while (**rest == ':')
        (*rest)++;
    size_t length = strcspn(*rest, ":");
    if (length == 0)
        return false;
    snprintf(folder, PATH_MAX, "%.*s", (int)length, *rest);
    *rest += length;
    return true;
}

/* Finds a library: its path in the first plugin folder that has it, else its path in the first folder. */
static char *find_library(const struct gyre_config *config, const char *library)
{
    const char *rest = gyre_config_text(config, GYRE_SECTION_GYRE, NULL, "plugin_dir");
    char folder[PATH_MAX], path[PATH_MAX], first[PATH_MAX] = "";
    if (library[0] == '/')
        return strdup(library);
    while (next_folder(&rest, folder)) {
        int length = snprintf(path, sizeof path, "%s/%s", folder, library);
        if (length < 0 || (size_t)length >= sizeof path)
            continue;
        if (access(path, F_OK) == 0)
            return strdup(path);
        if (!first[0])
            memcpy(first, path, (size_t)length + 1);
    }
    return strdup(first[0] ? first : library);
}

/* ---- one backend ---- */

/* Whether a key of a backend's section is for the plugin. Other keys tell Gyre how to use the plugin. */
static bool is_for_plugin(const char *key)
{
    static const char *const ours[] = {
        "library",       "priority",           "enabled", "isolation", "worker_timeout_ms",
        "restart_limit", "restart_backoff_ms", "standby", "not_built", "drives"};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (strcmp(key, ours[i]) == 0)
            return false;
    return true;
}

static gyre_status read_parameters(const struct gyre_config *config, struct gyre_manifest *manifest,
                                   bool named)
{
    size_t count;
    const struct gyre_config_value *values =
        gyre_config_section(config, GYRE_SECTION_BACKEND, manifest->name, &count);
    manifest->parameters = calloc(count + 1, sizeof *manifest->parameters);
    if (!manifest->parameters)
        return no_memory();
    for (size_t i = 0; i < count; i++) {
        const struct gyre_config_value *value = &values[i];
        if (strcmp(value->key, "enabled") == 0)
            manifest->enabled_origin = value->origin;
        if (named && strcmp(value->origin, "default") != 0 &&
            (manifest->origin[0] == '\0' || strcmp(value->key, "library") == 0))
            manifest->origin = value->origin;
        if (is_for_plugin(value->key))
            manifest->parameters[manifest->parameter_count++] =
                (gyre_parameter){value->key, value->text, value->origin};
    }
    return GYRE_OK;
}

/*
 * The path of the drop-in NAME.ini when it is a link to the null device, which disables a backend from a package;
 * else NULL.
 */
static const char *null_drop_in(const struct gyre_config *config, const char *name)
{
    size_t count, length = strlen(name);
    const struct gyre_config_manifest *files = gyre_config_manifests(config, &count);
    for (size_t i = 0; i < count; i++)
        if (files[i].state == GYRE_MANIFEST_DISABLED && strncmp(files[i].file, name, length) == 0 &&
            strcmp(files[i].file + length, ".ini") == 0)
            return files[i].path;
    return NULL;
}

static gyre_status fill(const struct gyre_config *config, const char *name, const char *library,
                        struct gyre_manifest *manifest)
{
    bool named = library == NULL;
    char usual[NAME_MAX + 1];
    const char *configured = gyre_config_text(config, GYRE_SECTION_BACKEND, name, "library");
    snprintf(usual, sizeof usual, "%s%s%s", prefix, name, suffix);
    *manifest = (struct gyre_manifest){.origin = "", .enabled_origin = "", .not_built = ""};
    manifest->name = strdup(name);
    manifest->library = named ? find_library(config, configured[0] ? configured : usual) : strdup(library);
    if (!manifest->name || !manifest->library)
        return no_memory();
    manifest->priority = (int)gyre_config_int(config, GYRE_SECTION_BACKEND, name, "priority");
    manifest->enabled = gyre_config_bool(config, GYRE_SECTION_BACKEND, name, "enabled");
    manifest->not_built = gyre_config_text(config, GYRE_SECTION_BACKEND, name, "not_built");
    manifest->isolated = gyre_config_isolates(config, name);
    manifest->standby = gyre_config_int(config, GYRE_SECTION_BACKEND, name, "standby") != 0;
    manifest->replaced = gyre_config_int(config, GYRE_SECTION_BACKEND, name, "restart_limit") > 0;
    manifest->worker_timeout_ns = gyre_config_ns(config, GYRE_SECTION_BACKEND, name, "worker_timeout_ms");
    gyre_status status = read_parameters(config, manifest, named);
    if (status == GYRE_OK && strcmp(manifest->enabled_origin, "default") == 0)
        manifest->disabled_by = null_drop_in(config, name); /* unless a section says `enabled` itself */
    if (manifest->disabled_by)
        manifest->enabled = false;
    return status;
}

/* ---- all of them ---- */

/* Adds a backend to the list. `library` is NULL for a backend that the configuration names. */
static gyre_status add(struct list *list, const char *name, const char *library)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 8;
        struct gyre_manifest *items = realloc(list->items, capacity * sizeof *items);
        if (!items)
            return no_memory();
        list->items = items;
        list->capacity = capacity;
    }
    return fill(list->config, name, library, &list->items[list->count++]);
}

/*
 * Drops the last backend if the configuration knows only its name by default: its plugin does not exist, and no file
 * names it.
 */
static void drop_imagined(struct list *list)
{
    struct gyre_manifest *last = &list->items[list->count - 1];
    if (last->origin[0] != '\0' || access(last->library, F_OK) == 0)
        return;
    release(last);
    list->count--;
}

static gyre_status add_named(struct list *list)
{
    size_t count;
    const char *const *names = gyre_config_names(list->config, GYRE_SECTION_BACKEND, &count);
    gyre_status status = GYRE_OK;
    for (size_t i = 0; i < count && status == GYRE_OK; i++) {
        status = add(list, names[i], NULL);
        if (status == GYRE_OK)
            drop_imagined(list);
    }
    return status;
}

static bool is_known(const struct list *list, const char *name, const char *library)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0 || strcmp(list->items[i].library, library) == 0)
            return true;
    return false;
}

/* Whether a file is named gyre-NAME.so. `name` receives NAME. */
static bool is_plugin_file(const char *file, char name[NAME_MAX + 1])
{
    size_t length = strlen(file), around = strlen(prefix) + strlen(suffix);
    if (length <= around || strncmp(file, prefix, strlen(prefix)) != 0 ||
        strcmp(file + length - strlen(suffix), suffix) != 0)
        return false;
    snprintf(name, NAME_MAX + 1, "%.*s", (int)(length - around), file + strlen(prefix));
    return true;
}

static gyre_status add_folder(struct list *list, const char *folder)
{
    DIR *stream = opendir(folder);
    gyre_status status = GYRE_OK;
    if (!stream) /* a plugin folder need not exist; a backend whose plugin is missing is reported by itself */
        return GYRE_OK;
    for (struct dirent *entry; status == GYRE_OK && (entry = readdir(stream));) {
        char name[NAME_MAX + 1], path[PATH_MAX];
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (length > 0 && (size_t)length < sizeof path && is_plugin_file(entry->d_name, name) &&
            !is_known(list, name, path))
            status = add(list, name, path);
    }
    closedir(stream);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct gyre_manifest *)a)->name, ((const struct gyre_manifest *)b)->name);
}

gyre_status gyre_manifests_list(const struct gyre_config *config, struct gyre_manifest **out, size_t *count)
{
    struct list list = {.config = config};
    const char *rest = gyre_config_text(config, GYRE_SECTION_GYRE, NULL, "plugin_dir");
    char folder[PATH_MAX];
    *out = NULL;
    *count = 0;
    gyre_status status = add_named(&list);
    while (status == GYRE_OK && next_folder(&rest, folder))
        status = add_folder(&list, folder);
    if (status != GYRE_OK) {
        gyre_manifests_release(list.items, list.count);
        return status;
    }
    if (list.count > 1)
        qsort(list.items, list.count, sizeof *list.items, by_name);
    *out = list.items;
    *count = list.count;
    return GYRE_OK;
}

void gyre_manifests_release(struct gyre_manifest *manifests, size_t count)
{
    for (size_t i = 0; i < count; i++)
        release(&manifests[i]);
    free(manifests);
}
