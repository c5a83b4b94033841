/* SPDX-License-Identifier: Apache-2.0 */
/* Looks values up in a loaded configuration (config.h). No locks, because a loaded configuration is constant. load.c loads. */
#include "core/config/config.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/config/effective.h"
#include "core/config/value.h"

/*
 * Whether the section of that name configures a kernel or queue `name`: its own name, or that of which it is a copy, NAME#NUMBER
 * (a shard of a cluster). No section's name has a '#'.
 */
static bool is_configured_by(const char *name, const char *section)
{
    const size_t length = strcspn(name, "#");
    return strncmp(name, section, length) == 0 && section[length] == '\0';
}

static const struct gyre_config_part *find_part(const struct gyre_config *config, enum gyre_section_kind kind,
                                                const char *name)
{
    const struct gyre_config_part *fallback = NULL;
    for (size_t i = 0; i < config->part_count; i++) {
        const struct gyre_config_part *part = &config->parts[i];
        if (part->kind != kind)
            continue;
        if (!fallback)
            fallback = part; /* the only section, or the section `default`, which is the first of its kind */
        if (gyre_section_kind_is_single(kind) || !name || is_configured_by(name, part->name))
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

/* A path or a name that is not found may have been meant to end before its '#'. */
static void hint_at_comment(gyre_status status, const char *value)
{
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s", gyre_error_text());
    if (gyre_value_hint(value)[0])
        gyre_error_set(status, "%s%s", sentence, gyre_value_hint(value));
}

gyre_status gyre_config_blame(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                              const char *key, gyre_status status)
{
    const struct gyre_config_value *value = gyre_config_find(config, kind, name, key);
    if (status == GYRE_OK || !value || strcmp(value->origin, "default") == 0)
        return status;
    hint_at_comment(status, value->text);
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
        has = is_configured_by(name, names[i]);
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
