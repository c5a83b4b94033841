/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the settings of all layers (settings.h): finds each key's row in the table, checks the value, and turns unknown
 * keys and sections into warnings with the nearest known name. Used by one thread while a configuration is loaded.
 * Allocates from the pool only.
 */
#include "core/config/settings.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"

enum { NAMES_MAX = 64, KINDS_SIZE = 256 };

gyre_status gyre_settings_warn(struct gyre_settings *settings, const char *format, ...)
{
    char sentence[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    const char **grown =
        gyre_pool_grow(settings->pool, settings->warnings, settings->warning_count, sizeof *grown);
    const char *kept = gyre_pool_copy(settings->pool, sentence, strlen(sentence));
    if (!grown || !kept)
        return gyre_pool_no_memory();
    settings->warnings = grown;
    settings->warnings[settings->warning_count++] = kept;
    return GYRE_OK;
}

static gyre_status setting_append(struct gyre_settings *settings, const struct gyre_setting *setting)
{
    struct gyre_setting *grown =
        gyre_pool_grow(settings->pool, settings->all, settings->count, sizeof *grown);
    if (!grown)
        return gyre_pool_no_memory();
    settings->all = grown;
    settings->all[settings->count++] = *setting;
    return GYRE_OK;
}

/*
 * Splits "queue.orders" into kind and name. False when there is no such kind, or the name is missing, or [gyre] or [observe] has
 * one.
 */
static bool split_section(const char *section, enum gyre_section_kind *kind, const char **name)
{
    const char *dot = strchr(section, '.');
    size_t length = dot ? (size_t)(dot - section) : strlen(section);
    for (int i = 0; i < GYRE_SECTION_KINDS; i++) {
        const char *word = gyre_section_kind_word((enum gyre_section_kind)i);
        if (strncmp(section, word, length) != 0 || word[length] != '\0')
            continue;
        *kind = (enum gyre_section_kind)i;
        *name = dot ? dot + 1 : "";
        return (bool)gyre_section_kind_is_single(*kind) == !dot && (!dot || dot[1]);
    }
    return false;
}

static gyre_status warn_section(struct gyre_settings *settings, const char *section, const char *origin)
{
    const char *kinds[GYRE_SECTION_KINDS];
    char kind[64];
    const char *dot = strchr(section, '.'), *name = dot && dot[1] ? dot + 1 : "default";
    snprintf(kind, sizeof kind, "%.*s", (int)(dot ? dot - section : (long)strlen(section)), section);
    for (int i = 0; i < GYRE_SECTION_KINDS; i++)
        kinds[i] = gyre_section_kind_word((enum gyre_section_kind)i);
    const char *near = gyre_text_nearest(kind, kinds, GYRE_SECTION_KINDS);
    if (!near)
        return gyre_settings_warn(
            settings,
            "%s: unknown section [%s], ignored; expected [gyre], [observe], [backend.NAME], "
            "[kernel.NAME], [queue.NAME], [pipeline.NAME], [link.NAME], [topic.NAME] or "
            "[pool.NAME]",
            origin, section);
    bool plain = strcmp(near, "gyre") == 0 || strcmp(near, "observe") == 0;
    return gyre_settings_warn(settings, "%s: unknown section [%s], ignored; did you mean [%s%s%s]?", origin,
                              section, near, plain ? "" : ".", plain ? "" : name);
}

/* Lists the keys that a section may have: the keys of the table, then the keys that its backend introduced. */
static size_t known_keys(const struct gyre_settings *settings, enum gyre_section_kind kind, const char *name,
                         const char *names[NAMES_MAX]);

/* Writes how an environment variable must be spelled that has single underscores between kind, name and key. */
static bool spell_variable(const char *key, const char *origin, char *text, size_t size)
{
    static const char *const kinds[] = {"backend_", "kernel_", "queue_", "pipeline_", "link_"};
    static const char single[] = "observe_";
    if (strncmp(key, single, sizeof single - 1) == 0 && strncmp(origin, "environment ", 12) == 0) {
        int used = snprintf(text, size, "GYRE_OBSERVE__%s", key + sizeof single - 1);
        for (char *at = text; *at; at++)
            *at = (char)(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
        return used > 0 && (size_t)used < size;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t length = strlen(kinds[i]);
        const char *dash = strncmp(key, kinds[i], length) == 0 ? strchr(key + length, '_') : NULL;
        if (!dash || dash == key + length || !dash[1] || strncmp(origin, "environment ", 12) != 0)
            continue;
        int used = snprintf(text, size, "GYRE_%s_%.*s__%s", kinds[i], (int)(dash - key - (long)length),
                            key + length, dash + 1);
        for (char *at = text; *at; at++)
            *at = (char)(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
        return used > 0 && (size_t)used < size;
    }
    return false;
}

static bool names_library(const struct gyre_settings *settings, int source, const char *backend);

/* The name of another backend that has this key; NULL: there is none. */
static const char *backend_with_key(const struct gyre_settings *settings, const char *name, const char *key)
{
    for (size_t i = 0; i < settings->count; i++) {
        const struct gyre_setting *at = &settings->all[i];
        if (at->kind != GYRE_SECTION_BACKEND || strcmp(at->name, name) == 0)
            continue;
        const bool introduced =
            at->key && strcmp(at->key, key) == 0 && names_library(settings, at->source, at->name);
        if (introduced || gyre_config_row_find(GYRE_SECTION_BACKEND, at->name, key))
            return at->name;
    }
    return NULL;
}

/* Writes which other kinds of sections have this key. Pipelines and links look at each other first, because a key of the one is
 * easily written into the other. False: none has it. */
static bool kinds_with_key(enum gyre_section_kind kind, const char *key, char text[KINDS_SIZE])
{
    enum gyre_section_kind having[GYRE_SECTION_KINDS];
    const enum gyre_section_kind beside = kind == GYRE_SECTION_PIPELINE ? GYRE_SECTION_LINK
                                          : kind == GYRE_SECTION_LINK   ? GYRE_SECTION_PIPELINE
                                                                        : kind;
    size_t count = 0, used = 0;
    if (beside != kind && gyre_config_row_find(beside, "", key))
        having[count++] = beside;
    for (int other = 0; other < GYRE_SECTION_KINDS; other++)
        if (other != (int)kind && other != (int)beside &&
            gyre_config_row_find((enum gyre_section_kind)other, "", key))
            having[count++] = (enum gyre_section_kind)other;
    for (size_t i = 0; i < count && used < KINDS_SIZE; i++)
        used += (size_t)snprintf(text + used, KINDS_SIZE - used, "%s[%s%s]",
                                 i == 0           ? ""
                                 : i == count - 1 ? " and "
                                                  : ", ",
                                 gyre_section_kind_word(having[i]),
                                 gyre_section_kind_is_single(having[i]) ? "" : ".NAME");
    return count != 0;
}

static gyre_status warn_key(struct gyre_settings *settings, enum gyre_section_kind kind, const char *name,
                            const char *key, const char *origin)
{
    char variable[256], hint[GYRE_TEXT_HINT_SIZE], kinds[KINDS_SIZE];
    const char *names[NAMES_MAX];
    if (kind == GYRE_SECTION_GYRE && spell_variable(key, origin, variable, sizeof variable))
        return gyre_settings_warn(
            settings,
            "%s: unknown key '%s' in [gyre], ignored; did you mean %s, with two underscores "
            "between section, name and key?",
            origin, key, variable);
    const char *backend = kind == GYRE_SECTION_BACKEND ? backend_with_key(settings, name, key) : NULL;
    if (backend)
        return gyre_settings_warn(settings,
                                  "%s: unknown key '%s' in [backend.%s], ignored; it is of [backend.%s]",
                                  origin, key, name, backend);
    if (kinds_with_key(kind, key, kinds))
        return gyre_settings_warn(settings, "%s: unknown key '%s' in [%s%s%s], ignored; it is of %s", origin,
                                  key, gyre_section_kind_word(kind), *name ? "." : "", name, kinds);
    size_t count = known_keys(settings, kind, name, names);
    return gyre_settings_warn(settings, "%s: unknown key '%s' in [%s%s%s], ignored%s", origin, key,
                              gyre_section_kind_word(kind), *name ? "." : "", name,
                              gyre_text_hint(key, names, count, hint));
}

/* Reads a value into the setting's text and number. The sentence about a wrong value begins with its place. */
static gyre_status read_value(struct gyre_settings *settings, const struct gyre_source *source,
                              const char *section, const char *value, struct gyre_setting *setting)
{
    struct gyre_value read;
    char reason[512];
    gyre_status status = gyre_value_read(setting->row, value, &source->place, settings->pool, &read);
    if (status == GYRE_CONFIG) {
        snprintf(reason, sizeof reason, "%s", gyre_error_cause());
        return gyre_error_set(GYRE_CONFIG, "%s: %s = '%s' in [%s] %s%s", setting->origin, setting->key, value,
                              section, reason, gyre_value_hint(value));
    }
    setting->text = read.text;
    setting->number = read.number;
    return status;
}

gyre_status gyre_settings_add(struct gyre_settings *settings, const struct gyre_source *source,
                              const char *section, const char *key, const char *value, const char *origin)
{
    struct gyre_setting setting = {
        .key = key, .origin = origin, .text = value, .layer = source->layer, .source = source->number};
    if (!split_section(section, &setting.kind, &setting.name))
        return key ? GYRE_OK : warn_section(settings, section, origin);
    if (!key)
        return setting_append(settings, &setting);
    setting.row = gyre_config_row_find(setting.kind, setting.name, key);
    if (!setting.row && setting.kind != GYRE_SECTION_BACKEND)
        return warn_key(settings, setting.kind, setting.name, key, origin);
    gyre_status status = setting.row ? read_value(settings, source, section, value, &setting) : GYRE_OK;
    return status == GYRE_OK ? setting_append(settings, &setting) : status;
}

const struct gyre_setting *gyre_settings_find(const struct gyre_settings *settings,
                                              enum gyre_section_kind kind, const char *name, const char *key)
{
    const struct gyre_setting *best = NULL;
    for (size_t i = 0; i < settings->count; i++) {
        const struct gyre_setting *at = &settings->all[i];
        if (at->kind == kind && at->key && strcmp(at->key, key) == 0 && strcmp(at->name, name) == 0 &&
            (!best || at->layer >= best->layer))
            best = at;
    }
    return best;
}

/* ---- keys that only a backend knows: the file that names the backend's library may introduce them ---- */

static bool names_library(const struct gyre_settings *settings, int source, const char *backend)
{
    for (size_t i = 0; i < settings->count; i++) {
        const struct gyre_setting *at = &settings->all[i];
        if (at->kind == GYRE_SECTION_BACKEND && at->source == source && at->key &&
            strcmp(at->key, "library") == 0 && strcmp(at->name, backend) == 0)
            return true;
    }
    return false;
}

static bool is_introduced(const struct gyre_settings *settings, const struct gyre_setting *setting)
{
    for (size_t i = 0; i < settings->count; i++) {
        const struct gyre_setting *at = &settings->all[i];
        if (at->kind == GYRE_SECTION_BACKEND && at->key && !at->row && strcmp(at->key, setting->key) == 0 &&
            strcmp(at->name, setting->name) == 0 && names_library(settings, at->source, at->name))
            return true;
    }
    return false;
}

static size_t known_keys(const struct gyre_settings *settings, enum gyre_section_kind kind, const char *name,
                         const char *names[NAMES_MAX])
{
    size_t row_count, count = 0;
    const struct gyre_config_row *rows = gyre_config_rows(&row_count);
    for (size_t i = 0; i < row_count && count < NAMES_MAX; i++)
        if (gyre_config_row_fits(&rows[i], kind, name))
            names[count++] = rows[i].key;
    for (size_t i = 0; i < settings->count && count < NAMES_MAX; i++) {
        const struct gyre_setting *at = &settings->all[i];
        if (at->kind == kind && at->key && !at->row && strcmp(at->name, name) == 0 &&
            is_introduced(settings, at))
            names[count++] = at->key;
    }
    return count;
}

gyre_status gyre_settings_judge_backend_keys(struct gyre_settings *settings)
{
    gyre_status status = GYRE_OK;
    for (size_t i = 0; i < settings->count && status == GYRE_OK; i++) {
        struct gyre_setting *at = &settings->all[i];
        if (at->key && !at->row && !is_introduced(settings, at)) {
            status = warn_key(settings, at->kind, at->name, at->key, at->origin);
            at->key = NULL; /* the section itself stays known */
        }
    }
    return status;
}
