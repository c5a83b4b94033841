/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says which backends pipelines isolate. Adds warnings about settings that have no effect because of other settings, and about section names that are probably
 * mistakes ([queue.Default]). Such settings are never errors. No state.
 */
#include "core/config/effective.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/config/config.h"

enum { KEY_SIZE = 64, NAME_SIZE = 256 };

static bool is_set(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                   const char *key)
{
    return gyre_config_int(config, kind, name, key) != 0;
}

/* Whether the key is set in the section `default`, or in any named section of the kind. */
static bool is_set_anywhere(const struct gyre_config *config, enum gyre_section_kind kind, const char *key)
{
    size_t count = 0;
    const char *const *names = gyre_config_names(config, kind, &count);
    bool found = is_set(config, kind, NULL, key);
    for (size_t i = 0; i < count; i++)
        found = found || is_set(config, kind, names[i], key);
    return found;
}

bool gyre_config_may_put_back(const struct gyre_config *config)
{
    return is_set_anywhere(config, GYRE_SECTION_BACKEND, "isolation") ||
           is_set_anywhere(config, GYRE_SECTION_PIPELINE, "isolation") ||
           is_set_anywhere(config, GYRE_SECTION_QUEUE, "durability");
}

/* ---- isolation ---- */

/* Whether the kernel, whose name has `length` bytes, may run on the backend. */
static bool may_run_on(const struct gyre_config *config, const char *kernel, size_t length,
                       const char *backend)
{
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%.*s", (int)length, kernel);
    const char *chosen = gyre_config_text(config, GYRE_SECTION_KERNEL, name, "backend");
    if (!chosen[0])
        chosen = gyre_config_text(config, GYRE_SECTION_GYRE, NULL, "backend");
    return strcmp(chosen, "auto") == 0 || strcmp(chosen, backend) == 0;
}

/* Of a pipeline that a program describes, the entries are not known here. */
static bool may_enter_on(const struct gyre_config *config, const char *pipeline, const char *backend)
{
    const char *entries = gyre_config_text(config, GYRE_SECTION_PIPELINE, pipeline, "entry");
    bool may = !entries[0];
    while (!may && entries[0]) {
        const size_t length = strcspn(entries, ", ");
        may = length != 0 && may_run_on(config, entries, length, backend);
        entries += length;
        entries += strspn(entries, ", ");
    }
    return may;
}

bool gyre_config_isolates(const struct gyre_config *config, const char *backend)
{
    size_t count = 0;
    const char *const *pipelines = gyre_config_names(config, GYRE_SECTION_PIPELINE, &count);
    const struct gyre_config_value *own =
        gyre_config_find(config, GYRE_SECTION_BACKEND, backend, "isolation");
    if (own && strcmp(own->origin, "default") != 0)
        return own->number != 0;
    for (size_t i = 0; i < count; i++)
        if (is_set(config, GYRE_SECTION_PIPELINE, pipelines[i], "isolation") &&
            may_enter_on(config, pipelines[i], backend))
            return true;
    return false;
}

/* ---- warnings ---- */

static gyre_status add_warning(struct gyre_config *config, const char *sentence)
{
    const char **grown =
        gyre_pool_grow(&config->pool, config->warnings, config->warning_count, sizeof *grown);
    if (!grown || !sentence)
        return gyre_pool_no_memory();
    config->warnings = grown;
    config->warnings[config->warning_count++] = sentence;
    return GYRE_OK;
}

/* True when the value is its default, or the number zero. */
static bool is_off(const struct gyre_config_value *value)
{
    const bool is_text = value->row->type == GYRE_VALUE_TEXT || value->row->type == GYRE_VALUE_PATH;
    return (!is_text && value->number == 0) || strcmp(value->text, value->row->preset) == 0;
}

/* True when the section itself sets the value, and not to its default. */
static bool is_own(const struct gyre_config *config, const struct gyre_config_value *value)
{
    const struct gyre_config_value *general = gyre_config_find(config, value->kind, NULL, value->key);
    return strcmp(value->text, value->row->preset) != 0 &&
           (general == value || !general || strcmp(general->origin, value->origin) != 0);
}

/* True when the setting that the value needs is on: in the value's section, or, for a value of `default`, in any section. */
static bool has_needed(const struct gyre_config *config, const struct gyre_config_value *value)
{
    char key[KEY_SIZE];
    size_t count = 0;
    const char *const *names = gyre_config_names(config, value->kind, &count);
    const bool general = strcmp(value->name, "default") == 0;
    snprintf(key, sizeof key, "%.*s", (int)strcspn(value->row->needs, " "), value->row->needs);
    bool found = !is_off(gyre_config_find(config, value->kind, value->name, key));
    for (size_t i = 0; general && i < count; i++)
        found = found || !is_off(gyre_config_find(config, value->kind, names[i], key));
    if (value->kind == GYRE_SECTION_BACKEND && strcmp(key, "isolation") == 0)
        found = found || (general ? is_set_anywhere(config, GYRE_SECTION_PIPELINE, key)
                                  : gyre_config_isolates(config, value->name));
    return found;
}

static gyre_status advise_value(struct gyre_config *config, const struct gyre_config_value *value)
{
    if (!value->row || !value->row->needs || !is_own(config, value) || has_needed(config, value))
        return GYRE_OK;
    return add_warning(config, gyre_pool_format(&config->pool, "%s: %s = %s of [%s] has no effect without %s",
                                                value->origin, value->key, value->text, value->section,
                                                value->row->needs));
}

static gyre_status advise_values(struct gyre_config *config)
{
    gyre_status status = GYRE_OK;
    size_t count = 0;
    const struct gyre_config_value *values = gyre_config_values(config, &count);
    for (size_t i = 0; status == GYRE_OK && i < count; i++)
        status = advise_value(config, &values[i]);
    return status;
}

static gyre_status advise_kernel(struct gyre_config *config, const char *name)
{
    const struct gyre_config_value *checkpoints =
        gyre_config_find(config, GYRE_SECTION_KERNEL, name, "checkpoints");
    if (!checkpoints || !checkpoints->number)
        return GYRE_OK;
    return add_warning(config,
                       gyre_pool_format(&config->pool,
                                        "%s: checkpoints = true of [kernel.%s] has no effect: nothing puts "
                                        "them back without isolation = process for its backend, or "
                                        "durability = journal for its queue",
                                        checkpoints->origin, name));
}

/* Warns about a name such as [queue.Default]. The name is allowed, but its author probably meant [queue.default], the section
 * for all queues. */
static gyre_status advise_name(struct gyre_config *config, enum gyre_section_kind kind, const char *name)
{
    const char *word = gyre_section_kind_word(kind), *place = gyre_config_place(config, kind, name);
    if (strcasecmp(name, "default") != 0)
        return GYRE_OK;
    return add_warning(
        config, gyre_pool_format(&config->pool,
                                 "%s%s[%s.%s] is for a %s of that very name; did you mean [%s.default], "
                                 "which is for all?",
                                 place ? place : "", place ? ": " : "", word, name, word, word));
}

static gyre_status advise_names(struct gyre_config *config, enum gyre_section_kind kind)
{
    gyre_status status = GYRE_OK;
    size_t count = 0;
    const char *const *names = gyre_config_names(config, kind, &count);
    for (size_t i = 0; status == GYRE_OK && i < count; i++)
        status = advise_name(config, kind, names[i]);
    return status;
}

gyre_status gyre_config_advise(struct gyre_config *config)
{
    size_t count = 0;
    gyre_status status = GYRE_OK;
    for (int kind = GYRE_SECTION_BACKEND; kind < GYRE_SECTION_KINDS && status == GYRE_OK; kind++)
        status = advise_names(config, (enum gyre_section_kind)kind);
    if (status == GYRE_OK)
        status = advise_values(config);
    if (gyre_config_may_put_back(config))
        return status;
    const char *const *names = gyre_config_names(config, GYRE_SECTION_KERNEL, &count);
    for (size_t i = 0; status == GYRE_OK && i < count; i++)
        status = advise_kernel(config, names[i]);
    if (status == GYRE_OK && count == 0)
        status = advise_kernel(config, "default");
    return status;
}
