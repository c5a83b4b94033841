/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the places of configuration files and the default folders, by the rules of the XDG base directories.
 *
 * Looks at nothing on disk. Texts live in the pool or belong to the caller.
 */
#ifndef GYRE_CORE_CONFIG_FOLDERS_H
#define GYRE_CORE_CONFIG_FOLDERS_H

#include "core/config/config.h"
#include "core/config/pool.h"

struct gyre_folders {
    const char *current;                   /* the current directory, absolute */
    const char *home;                      /* the user's home folder; NULL when unknown */
    const char *vendor_file;               /* the path of the vendor's configuration file */
    const char *system_list;               /* $XDG_CONFIG_DIRS, the least important last */
    const char *system_folder;             /* /etc/gyre */
    const char *user_folder;               /* $XDG_CONFIG_HOME/gyre; NULL when unknown */
    const char *plugins, *dropins, *cache; /* the presets; "" when unknown */
};

/** The value of a variable in a NULL-terminated "NAME=value" list; NULL when unset or empty. */
const char *gyre_environment_get(const char *const *environment, const char *name);

/** Fills in *out from the description and the environment. EXHAUSTED without memory. */
gyre_status gyre_folders_find(const struct gyre_config_desc *desc, const char *const *environment,
                              struct gyre_pool *pool, struct gyre_folders *out);

/** The value of a row's preset: the folder that "@plugins", "@dropins" or "@cache" names, else the preset itself. */
const char *gyre_folders_preset(const struct gyre_folders *folders, const char *preset);

#endif
