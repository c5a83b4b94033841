/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the folders of folders.h from the environment. A relative path in an XDG variable is ignored, as the XDG
 * specification asks. No state; must not touch the disk.
 */
#include "core/config/folders.h"

#include <string.h>
#include <unistd.h>

#include "core/base/places.h"

const char *gyre_environment_get(const char *const *environment, const char *name)
{
    size_t length = strlen(name);
    for (const char *const *at = environment; *at; at++)
        if (strncmp(*at, name, length) == 0 && (*at)[length] == '=')
            return (*at)[length + 1] ? *at + length + 1 : NULL;
    return NULL;
}

static const char *absolute_path(const char *path)
{
    return path && path[0] == '/' ? path : NULL;
}

/* A folder of the user: $variable/gyre, else ~/below/gyre, else NULL. */
static const char *user_folder(const char *const *environment, const char *variable, const char *below,
                               struct gyre_pool *pool)
{
    const char *named = absolute_path(gyre_environment_get(environment, variable));
    const char *home = absolute_path(gyre_environment_get(environment, "HOME"));
    if (named)
        return gyre_pool_format(pool, "%s/gyre", named);
    return home ? gyre_pool_format(pool, "%s/%s/gyre", home, below) : NULL;
}

static const char *current_folder(struct gyre_pool *pool)
{
    char path[4096];
    return getcwd(path, sizeof path) ? gyre_pool_copy(pool, path, strlen(path)) : ".";
}

/* Lists the drop-in folders: vendor, system, user. A file in a later folder masks the file of the same name in an earlier
 * one. */
static const char *dropin_folders(const struct gyre_folders *folders, const char *home,
                                  struct gyre_pool *pool)
{
    const char *user = folders->user_folder;
    return gyre_pool_format(pool, "%s/plugins.d:%s/plugins.d%s%s%s", home, folders->system_folder,
                            user ? ":" : "", user ? user : "", user ? "/plugins.d" : "");
}

gyre_status gyre_folders_find(const struct gyre_config_desc *desc, const char *const *environment,
                              struct gyre_pool *pool, struct gyre_folders *out)
{
    const char *home = desc->home ? desc->home : gyre_place_home();
    const char *system_list = gyre_environment_get(environment, "XDG_CONFIG_DIRS");
    const char *cache = user_folder(environment, "XDG_CACHE_HOME", ".cache", pool);
    *out = (struct gyre_folders){
        .current = current_folder(pool),
        .home = absolute_path(gyre_environment_get(environment, "HOME")),
        .vendor_file = gyre_pool_format(pool, "%s/gyre.ini", home),
        .system_list = system_list ? system_list : "/etc/xdg",
        .system_folder = desc->system_folder ? desc->system_folder : "/etc/gyre",
        .user_folder = user_folder(environment, "XDG_CONFIG_HOME", ".config", pool),
        .plugins = gyre_pool_format(pool, "%s/plugins", home),
        .cache = cache ? cache : "",
    };
    out->dropins = dropin_folders(out, home, pool);
    if (pool->exhausted)
        return gyre_pool_no_memory();
    return GYRE_OK;
}

const char *gyre_folders_preset(const struct gyre_folders *folders, const char *preset)
{
    if (strcmp(preset, "@plugins") == 0)
        return folders->plugins;
    if (strcmp(preset, "@dropins") == 0)
        return folders->dropins;
    return strcmp(preset, "@cache") == 0 ? folders->cache : preset;
}
