/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a configuration and answers from it. A loaded one is constant, so there are no locks; nothing here
 * writes to the process's environment or prints.
 */
#include "core/config/config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/config/effective.h"
#include "core/config/settings.h"

/* ---- loading ---- */

static gyre_status read_layers(const struct gyre_config_desc *desc, struct gyre_settings *settings)
{
    gyre_status status = gyre_folders_find(desc, settings->environment, settings->pool, &settings->folders);
    if (status == GYRE_OK)
        status = gyre_sources_read_files(settings, desc->config_path);
    if (status == GYRE_OK)
        status = gyre_sources_read_environment(settings);
    if (status == GYRE_OK)
        status = gyre_sources_read_list(settings, GYRE_LAYER_COMMAND_LINE, desc->command_line);
    if (status == GYRE_OK)
        status = gyre_sources_read_list(settings, GYRE_LAYER_API, desc->api);
    if (status == GYRE_OK)
        status = gyre_dropins_read(settings);
    return status == GYRE_OK ? gyre_settings_judge_backend_keys(settings) : status;
}

static gyre_status judge_warnings(const struct gyre_config *config)
{
    const struct gyre_config_value *strict = gyre_config_find(config, GYRE_SECTION_GYRE, NULL, "strict");
    if (!strict->number || config->warning_count == 0)
        return GYRE_OK;
    if (config->warning_count == 1)
        return gyre_error_set(GYRE_CONFIG, "%s (strict = true, from %s, makes this an error)",
                              config->warnings[0], strict->origin);
    return gyre_error_set(GYRE_CONFIG, "%s, and %zu more (strict = true, from %s, makes them errors)",
                          config->warnings[0], config->warning_count - 1, strict->origin);
}

/* clearenv() leaves a program without even an empty list. */
static const char *const *environment_of(const struct gyre_config_desc *desc)
{
    static const char *const none[] = {NULL};
    const char *const *given = desc->environment ? desc->environment : (const char *const *)environ;
    return given ? given : none;
}

static gyre_status load(const struct gyre_config_desc *desc, struct gyre_config *config)
{
    struct gyre_settings settings = {.pool = &config->pool, .environment = environment_of(desc)};
    gyre_status status = read_layers(desc, &settings);
    if (status != GYRE_OK)
        return status;
    config->warnings = settings.warnings;
    config->warning_count = settings.warning_count;
    config->manifests = settings.manifests;
    config->manifest_count = settings.manifest_count;
    status = gyre_effective_build(&settings, config);
    if (status == GYRE_OK)
        status = judge_warnings(config);
    return status == GYRE_OK ? gyre_config_advise(config) : status;
}

gyre_status gyre_config_load(const struct gyre_config_desc *desc, struct gyre_config **out)
{
    static const struct gyre_config_desc usual;
    *out = NULL;
    struct gyre_config *config = calloc(1, sizeof *config);
    if (!config)
        return gyre_pool_no_memory();
    gyre_status status = load(desc ? desc : &usual, config);
    if (status == GYRE_OK)
        *out = config;
    else
        gyre_config_destroy(config);
    return status;
}

void gyre_config_destroy(struct gyre_config *config)
{
    if (!config)
        return;
    gyre_pool_finish(&config->pool);
    free(config);
}

/* ---- answering ---- */

static const struct gyre_config_part *find_part(const struct gyre_config *config, enum gyre_section_kind kind,
                                                const char *name)
{
    const struct gyre_config_part *fallback = NULL;
    for (size_t i = 0; i < config->part_count; i++) {
        const struct gyre_config_part *part = &config->parts[i];
        if (part->kind != kind)
            continue;
        if (!fallback)
            fallback = part; /* [gyre], or the section `default`, which comes first */
        if (kind == GYRE_SECTION_GYRE || !name || strcmp(part->name, name) == 0)
            return part;
    }
    return fallback;
}

const struct gyre_config_value *gyre_config_section(const struct gyre_config *config,
                                                    enum gyre_section_kind kind, const char *name,
                                                    size_t *count)
{
    const struct gyre_config_part *part = find_part(config, kind, name);
    *count = part->count;
    return config->values + part->first;
}

const struct gyre_config_value *gyre_config_find(const struct gyre_config *config,
                                                 enum gyre_section_kind kind, const char *name,
                                                 const char *key)
{
    size_t count;
    const struct gyre_config_value *values = gyre_config_section(config, kind, name, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(values[i].key, key) == 0)
            return &values[i];
    return NULL;
}

gyre_status gyre_config_blame(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                              const char *key, gyre_status status)
{
    const struct gyre_config_value *value = gyre_config_find(config, kind, name, key);
    if (status == GYRE_OK || !value || strcmp(value->origin, "default") == 0)
        return status;
    return gyre_error_add(status, "%s", value->origin);
}

int64_t gyre_config_int(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                        const char *key)
{
    const struct gyre_config_value *value = gyre_config_find(config, kind, name, key);
    return value ? value->number : 0;
}

bool gyre_config_bool(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                      const char *key)
{
    return gyre_config_int(config, kind, name, key) != 0;
}

uint64_t gyre_config_ns(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                        const char *key)
{
    return (uint64_t)gyre_config_int(config, kind, name, key) * 1000000;
}

const char *gyre_config_text(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                             const char *key)
{
    const struct gyre_config_value *value = gyre_config_find(config, kind, name, key);
    return value ? value->text : "";
}

const struct gyre_config_value *gyre_config_values(const struct gyre_config *config, size_t *count)
{
    *count = config->value_count;
    return config->values;
}

const char *const *gyre_config_names(const struct gyre_config *config, enum gyre_section_kind kind,
                                     size_t *count)
{
    *count = config->name_counts[kind];
    return config->names[kind];
}

bool gyre_config_has_section(const struct gyre_config *config, enum gyre_section_kind kind, const char *name)
{
    size_t count;
    const char *const *names = gyre_config_names(config, kind, &count);
    bool has = strcmp(name, "default") == 0;
    for (size_t i = 0; i < count && !has; i++)
        has = strcmp(names[i], name) == 0;
    return has;
}

const char *gyre_config_place(const struct gyre_config *config, enum gyre_section_kind kind, const char *name)
{
    size_t count;
    const struct gyre_config_value *values = gyre_config_section(config, kind, name, &count);
    for (size_t i = 0; i < count; i++)
        if (gyre_config_find(config, kind, NULL, values[i].key) &&
            strcmp(values[i].origin, gyre_config_find(config, kind, NULL, values[i].key)->origin) != 0)
            return values[i].origin;
    return NULL;
}

const char *const *gyre_config_warnings(const struct gyre_config *config, size_t *count)
{
    *count = config->warning_count;
    return config->warnings;
}

const struct gyre_config_manifest *gyre_config_manifests(const struct gyre_config *config, size_t *count)
{
    *count = config->manifest_count;
    return config->manifests;
}
