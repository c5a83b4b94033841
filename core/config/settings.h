/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the settings of all layers, checks them, and keeps warnings about them. effective.h then decides which settings
 * take effect.
 *
 * Used while loading, by one thread. All memory lives in the pool.
 */
#ifndef GYRE_CORE_CONFIG_SETTINGS_H
#define GYRE_CORE_CONFIG_SETTINGS_H

#include "core/config/folders.h"
#include "core/config/pool.h"
#include "core/config/table.h"
#include "core/config/value.h"

/* The layers, lowest first. A setting of a higher layer wins; within a layer, the later setting wins. */
enum gyre_layer {
    GYRE_LAYER_VENDOR,
    GYRE_LAYER_SYSTEM,
    GYRE_LAYER_DROPIN,
    GYRE_LAYER_USER,
    GYRE_LAYER_FILE,
    GYRE_LAYER_ENVIRONMENT,
    GYRE_LAYER_COMMAND_LINE,
    GYRE_LAYER_API
};

/** A source of settings: a file, the environment, or a list of settings. */
struct gyre_source {
    enum gyre_layer layer;
    int number; /* tells sources apart */
    struct gyre_value_place place;
};

struct gyre_setting {
    enum gyre_section_kind kind;
    const char *name;   /* the section's name; "" for [gyre] */
    const char *key;    /* NULL: a file opened the section, which makes its name known */
    const char *origin; /* "FILE:LINE", "environment NAME", ... */
    const char *text;
    int64_t number;
    const struct gyre_config_row *row; /* NULL: the table has no such key; then kind is BACKEND */
    enum gyre_layer layer;
    int source;
};

struct gyre_settings {
    struct gyre_pool *pool;
    struct gyre_folders folders;
    const char *const *environment;
    int sources; /* numbers given to sources so far */
    struct gyre_setting *all;
    size_t count;
    const char **warnings;
    size_t warning_count;
    struct gyre_config_manifest *manifests;
    size_t manifest_count;
};

/** Adds "key = value" of a section, or, with a key of NULL, the section itself. An unknown key or section becomes a
 * warning. */
gyre_status gyre_settings_add(struct gyre_settings *settings, const struct gyre_source *source,
                              const char *section, const char *key, const char *value, const char *origin);
/** Adds a warning. */
gyre_status gyre_settings_warn(struct gyre_settings *settings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Drops settings of backends whose key is neither in the table nor introduced by the source that names the backend's
 * library, with a warning. */
gyre_status gyre_settings_judge_backend_keys(struct gyre_settings *settings);
/** The setting that wins for exactly this section, or NULL. */
const struct gyre_setting *gyre_settings_find(const struct gyre_settings *settings,
                                              enum gyre_section_kind kind, const char *name, const char *key);

/* Readers of the layers, in sources.c and dropins.c: */
gyre_status gyre_sources_read_files(struct gyre_settings *settings, const struct gyre_config_desc *desc);
gyre_status gyre_sources_read_environment(struct gyre_settings *settings);
/** Reads a list of "section.key=value". `layer` is COMMAND_LINE or API; `list` may be NULL. */
gyre_status gyre_sources_read_list(struct gyre_settings *settings, enum gyre_layer layer,
                                   const char *const *list);
/** Reads one file into the settings; NOT_FOUND when there is none. */
gyre_status gyre_sources_read_file(struct gyre_settings *settings, enum gyre_layer layer, const char *path);
/** True when permissions keep this user from reading `path`, or even from seeing whether it exists. */
bool gyre_sources_forbidden(const char *path);
/** Warns that a file or folder of a usual place counts as absent, because this user may not read it. */
gyre_status gyre_sources_pass_over(struct gyre_settings *settings, const char *path);
/** Reads the drop-ins. Called after all other layers are read, because they say where drop-ins are. */
gyre_status gyre_dropins_read(struct gyre_settings *settings);

#endif
