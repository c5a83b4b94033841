/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the effective values (effective.h): for each named section, and for `default` of each kind, the setting that wins,
 * else the setting of the section `default`, else the preset of the key's row. Used by one thread while loading.
 */
#include "core/config/effective.h"

#include <stdlib.h>
#include <string.h>

static const char default_name[] = "default";

/* ---- the names of sections ---- */

static gyre_status add_name(struct gyre_config *config, enum gyre_section_kind kind, const char *name)
{
    const char **names = config->names[kind];
    size_t count = config->name_counts[kind];
    if (strcmp(name, default_name) == 0)
        return GYRE_OK;
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return GYRE_OK;
    names = gyre_pool_grow(&config->pool, names, count, sizeof *names);
    if (!names)
        return gyre_pool_no_memory();
    names[count] = name;
    config->names[kind] = names;
    config->name_counts[kind] = count + 1;
    return GYRE_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Collects the names of sections that a layer set or opened, and of backends that the table of keys names. */
static gyre_status collect_names(const struct gyre_settings *settings, struct gyre_config *config)
{
    size_t row_count;
    const struct gyre_config_row *rows = gyre_config_rows(&row_count);
    gyre_status status = GYRE_OK;
    for (size_t i = 0; i < row_count && status == GYRE_OK; i++)
        if (rows[i].backend)
            status = add_name(config, rows[i].kind, rows[i].backend);
    for (size_t i = 0; i < settings->count && status == GYRE_OK; i++)
        if (!gyre_section_kind_is_single(settings->all[i].kind))
            status = add_name(config, settings->all[i].kind, settings->all[i].name);
    for (int kind = 0; kind < GYRE_SECTION_KINDS; kind++)
        if (config->name_counts[kind] > 1)
            qsort(config->names[kind], config->name_counts[kind], sizeof *config->names[kind], compare_names);
    return status;
}

/* ---- the values of a section ---- */

static gyre_status add_value(struct gyre_config *config, const struct gyre_config_value *value)
{
    struct gyre_config_value *grown =
        gyre_pool_grow(&config->pool, config->values, config->value_count, sizeof *grown);
    if (!grown)
        return gyre_pool_no_memory();
    config->values = grown;
    config->values[config->value_count++] = *value;
    return GYRE_OK;
}

static gyre_status take_preset(const struct gyre_settings *settings, struct gyre_config *config,
                               struct gyre_config_value *value)
{
    const struct gyre_value_place place = {.folder = settings->folders.current,
                                           .home = settings->folders.home};
    struct gyre_value read;
    gyre_status status =
        gyre_value_read(value->row, gyre_folders_preset(&settings->folders, value->row->preset), &place,
                        &config->pool, &read);
    value->text = read.text;
    value->number = read.number;
    value->origin = "default";
    return status;
}

static gyre_status add_row_value(const struct gyre_settings *settings, struct gyre_config *config,
                                 const struct gyre_config_value *section, const struct gyre_config_row *row)
{
    struct gyre_config_value value = *section;
    value.key = row->key;
    value.row = row;
    const struct gyre_setting *setting = gyre_settings_find(settings, value.kind, value.name, row->key);
    if (!setting && !gyre_section_kind_is_single(value.kind) && !row->backend)
        setting = gyre_settings_find(settings, value.kind, default_name, row->key);
    if (!setting) {
        gyre_status status = take_preset(settings, config, &value);
        return status == GYRE_OK ? add_value(config, &value) : status;
    }
    value.text = setting->text;
    value.number = setting->number;
    value.origin = setting->origin;
    return add_value(config, &value);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct gyre_config_value *)a)->key, ((const struct gyre_config_value *)b)->key);
}

/* Adds the values of keys that only the backend knows, not the table; each key once, sorted by name. */
static gyre_status add_own_values(const struct gyre_settings *settings, struct gyre_config *config,
                                  const struct gyre_config_value *section)
{
    size_t first = config->value_count;
    gyre_status status = GYRE_OK;
    for (size_t i = 0; i < settings->count && status == GYRE_OK; i++) {
        const struct gyre_setting *at = &settings->all[i];
        if (at->row || !at->key || at->kind != section->kind || strcmp(at->name, section->name) != 0 ||
            gyre_settings_find(settings, at->kind, at->name, at->key) != at)
            continue;
        struct gyre_config_value value = *section;
        value.key = at->key;
        value.text = at->text;
        value.origin = at->origin;
        status = add_value(config, &value);
    }
    if (config->value_count > first)
        qsort(config->values + first, config->value_count - first, sizeof *config->values, compare_keys);
    return status;
}

static gyre_status add_section(const struct gyre_settings *settings, struct gyre_config *config,
                               enum gyre_section_kind kind, const char *name)
{
    const char *word = gyre_section_kind_word(kind);
    struct gyre_config_value section = {
        .kind = kind,
        .section = *name ? gyre_pool_format(&config->pool, "%s.%s", word, name) : word,
        .name = name,
    };
    struct gyre_config_part *parts =
        gyre_pool_grow(&config->pool, config->parts, config->part_count, sizeof *parts);
    if (!section.section || !parts)
        return gyre_pool_no_memory();
    config->parts = parts;
    struct gyre_config_part part = {.kind = kind, .name = name, .first = config->value_count};
    size_t row_count;
    const struct gyre_config_row *rows = gyre_config_rows(&row_count);
    gyre_status status = GYRE_OK;
    for (size_t i = 0; i < row_count && status == GYRE_OK; i++)
        if (gyre_config_row_fits(&rows[i], kind, name))
            status = add_row_value(settings, config, &section, &rows[i]);
    if (status == GYRE_OK)
        status = add_own_values(settings, config, &section);
    part.count = config->value_count - part.first;
    config->parts[config->part_count++] = part;
    return status;
}

gyre_status gyre_effective_build(const struct gyre_settings *settings, struct gyre_config *config)
{
    gyre_status status = collect_names(settings, config);
    if (status == GYRE_OK)
        status = add_section(settings, config, GYRE_SECTION_GYRE, "");
    for (int i = GYRE_SECTION_BACKEND; i < GYRE_SECTION_KINDS && status == GYRE_OK; i++) {
        enum gyre_section_kind kind = (enum gyre_section_kind)i;
        status = add_section(settings, config, kind, gyre_section_kind_is_single(kind) ? "" : default_name);
        for (size_t n = 0; n < config->name_counts[kind] && status == GYRE_OK; n++)
            status = add_section(settings, config, kind, config->names[kind][n]);
    }
    return status;
}
