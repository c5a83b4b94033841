/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads every layer of settings except the drop-ins (dropins.c): files, environment, lists of settings. A file in a usual
 * place may be absent; a file that --config or GYRE_CONFIG names must exist. No locks: one thread loads.
 */
#include "core/config/settings.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/config/ini_file.h"
#include "core/config/ini_text.h"

static struct gyre_source new_source(struct gyre_settings *settings, enum gyre_layer layer,
                                     const char *folder)
{
    return (struct gyre_source){.layer = layer,
                                .number = settings->sources++,
                                .place = {.folder = folder, .home = settings->folders.home}};
}

/* ---- files ---- */

/* The absolute path of the folder that contains `path`. */
static const char *folder_of(const struct gyre_settings *settings, const char *path)
{
    const char *slash = strrchr(path, '/'), *current = settings->folders.current;
    int length = slash ? (int)(slash - path) : 0;
    if (path[0] == '/')
        return gyre_pool_copy(settings->pool, path, (size_t)length);
    return gyre_pool_format(settings->pool, "%s%s%.*s", current, length ? "/" : "", length, path);
}

gyre_status gyre_sources_read_file(struct gyre_settings *settings, enum gyre_layer layer, const char *path)
{
    struct gyre_ini_file file;
    gyre_status status = gyre_ini_file_read(path, settings->pool, &file);
    const char *folder = folder_of(settings, path);
    if (status == GYRE_OK && !folder)
        status = gyre_pool_no_memory();
    if (status != GYRE_OK)
        return status;
    struct gyre_source source = new_source(settings, layer, folder);
    for (size_t i = 0; i < file.count && status == GYRE_OK; i++) {
        const struct gyre_ini_entry *entry = &file.entries[i];
        const char *origin = gyre_pool_format(settings->pool, "%s:%d", path, entry->line);
        status = origin
                     ? gyre_settings_add(settings, &source, entry->section, entry->key, entry->value, origin)
                     : gyre_pool_no_memory();
    }
    return status;
}

bool gyre_sources_forbidden(const char *path)
{
    return faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0 && errno == EACCES;
}

gyre_status gyre_sources_pass_over(struct gyre_settings *settings, const char *path)
{
    return gyre_settings_warn(
        settings,
        "%s: cannot be read by user %u: Permission denied; it is passed over (HOME may be another "
        "user's)",
        path, (unsigned)geteuid());
}

/* Reads a file in a usual place. A file that this user may not read counts as absent, because a process may run with the HOME
 * of another user. */
static gyre_status read_usual(struct gyre_settings *settings, enum gyre_layer layer, const char *path)
{
    if (!path)
        return gyre_pool_no_memory();
    gyre_status status = gyre_sources_read_file(settings, layer, path);
    const bool forbidden = status == GYRE_CONFIG && gyre_sources_forbidden(path);
    if (status != GYRE_NOT_FOUND && !forbidden)
        return status;
    gyre_error_clear();
    return forbidden ? gyre_sources_pass_over(settings, path) : GYRE_OK;
}

/* Reads the files in the folders of $XDG_CONFIG_DIRS, the last folder first, because it is the least important. */
static gyre_status read_system_list(struct gyre_settings *settings)
{
    const char *list = settings->folders.system_list;
    size_t end = strlen(list);
    gyre_status status = GYRE_OK;
    while (end > 0 && status == GYRE_OK) {
        size_t start = end;
        while (start > 0 && list[start - 1] != ':')
            start--;
        if (list[start] == '/')
            status = read_usual(
                settings, GYRE_LAYER_SYSTEM,
                gyre_pool_format(settings->pool, "%.*s/gyre/gyre.ini", (int)(end - start), list + start));
        end = start > 0 ? start - 1 : 0;
    }
    return status;
}

static gyre_status read_named(struct gyre_settings *settings, const struct gyre_config_desc *desc)
{
    const char *given = desc->config_path;
    const char *path = given ? given : gyre_environment_get(settings->environment, "GYRE_CONFIG");
    const char *namer = !given      ? "the environment's GYRE_CONFIG"
                        : desc->api ? "config_path of gyre_open"
                                    : "--config";
    if (!path)
        return GYRE_OK;
    if (!path[0])
        return gyre_error_set(GYRE_CONFIG, "the path of the configuration file is empty; it was given by %s",
                              namer);
    gyre_status status = gyre_sources_read_file(settings, GYRE_LAYER_FILE, path);
    if (status == GYRE_NOT_FOUND)
        return gyre_error_set(GYRE_CONFIG, "%s: there is no such file; it was named by %s", path, namer);
    return status;
}

gyre_status gyre_sources_read_files(struct gyre_settings *settings, const struct gyre_config_desc *desc)
{
    const struct gyre_folders *folders = &settings->folders;
    struct gyre_pool *pool = settings->pool;
    gyre_status status = read_usual(settings, GYRE_LAYER_VENDOR, folders->vendor_file);
    if (status == GYRE_OK)
        status = read_system_list(settings);
    if (status == GYRE_OK)
        status = read_usual(settings, GYRE_LAYER_SYSTEM,
                            gyre_pool_format(pool, "%s/gyre.ini", folders->system_folder));
    if (status == GYRE_OK && folders->user_folder)
        status = read_usual(settings, GYRE_LAYER_USER,
                            gyre_pool_format(pool, "%s/gyre.ini", folders->user_folder));
    return status == GYRE_OK ? read_named(settings, desc) : status;
}

/* ---- single settings: environment, command line, API ---- */

static gyre_status add_single(struct gyre_settings *settings, const struct gyre_source *source, char *section,
                              const char *key, const char *value, const char *origin)
{
    if (!gyre_value_is_name(section) || !gyre_value_is_name(key))
        return gyre_error_set(GYRE_CONFIG,
                              "%s: '%s' and '%s' are no section and key; "
                              "expected letters, digits, '_', '-' and '.'",
                              origin, section, key);
    if (!gyre_ini_text_is_clean(value))
        return gyre_error_set(GYRE_CONFIG,
                              "%s: the value of '%s' in [%s] is not UTF-8 text without control characters",
                              origin, key, section);
    gyre_status status = gyre_settings_add(settings, source, section, NULL, NULL, origin);
    return status == GYRE_OK ? gyre_settings_add(settings, source, section, key, value, origin) : status;
}

static void lower_text(char *text)
{
    for (; *text; text++)
        *text = (char)tolower((unsigned char)*text);
}

/* Turns a name in capitals into small letters. A name with any small letter stays as it is. */
static void lower_if_capitals(char *text)
{
    for (const char *at = text; *at; at++)
        if (*at >= 'a' && *at <= 'z')
            return;
    lower_text(text);
}

/* True for the word of a section that has no name, other than [gyre]: its variables are GYRE_OBSERVE__KEY. */
static bool is_single_word(const char *word)
{
    return strcmp(word, gyre_section_kind_word(GYRE_SECTION_OBSERVE)) == 0 ||
           strcmp(word, gyre_section_kind_word(GYRE_SECTION_CLUSTER)) == 0;
}

/* Adds the setting of a variable whose name has at most one pair of underscores. */
static gyre_status add_plain_variable(struct gyre_settings *settings, const struct gyre_source *source,
                                      char *variable, const char *value, const char *origin)
{
    const char *word = "gyre";
    lower_text(variable);
    char *key = strstr(variable, "__");
    if (key) {
        *key = '\0';
        if (is_single_word(variable))
            word = variable;
        else
            *key = '_';
    }
    char *section = gyre_pool_copy(settings->pool, word, strlen(word));
    return section
               ? add_single(settings, source, section, word == variable ? key + 2 : variable, value, origin)
               : gyre_pool_no_memory();
}

/* Adds the setting of an environment variable. `variable` is its name behind "GYRE_": "KEY" is a key of [gyre],
 * "OBSERVE__KEY" is a key of [observe], "KIND__NAME__KEY" is a key of [kind.NAME]. Changes `variable`. */
static gyre_status add_variable(struct gyre_settings *settings, const struct gyre_source *source,
                                char *variable, const char *value, const char *origin)
{
    char *name = strstr(variable, "__"), *key = name ? strstr(name + 2, "__") : NULL;
    if (!name || !key)
        return add_plain_variable(settings, source, variable, value, origin);
    *name = *key = '\0';
    lower_text(variable);
    lower_if_capitals(name + 2);
    lower_text(key + 2);
    char *section = gyre_pool_format(settings->pool, "%s.%s", variable, name + 2);
    return section ? add_single(settings, source, section, key + 2, value, origin) : gyre_pool_no_memory();
}

/* Whether a variable is no setting: GYRE_CONFIG, which names a file, and variables that only the project's own scripts and
 * tests read. */
static bool is_reserved(const char *name, size_t length)
{
    static const char *const reserved[] = {
        "CONFIG",
        "NO_INSTALL",
        "REQUIRE",
#if GYRE_FAULT_POINTS
        "FAULTS",
        "FAULT_SEED",
        "FAULT_FILE"
#endif
    };
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strlen(reserved[i]) == length && strncmp(name, reserved[i], length) == 0)
            return true;
    return strncmp(name, "TEST_", 5) == 0;
}

static bool is_setting(const char *variable)
{
    const char *equals = strchr(variable, '=');
    if (!equals || !equals[1] || strncmp(variable, "GYRE_", 5) != 0 || equals <= variable + 5)
        return false;
    return !is_reserved(variable + 5, (size_t)(equals - variable) - 5);
}

gyre_status gyre_sources_read_environment(struct gyre_settings *settings)
{
    struct gyre_source source = new_source(settings, GYRE_LAYER_ENVIRONMENT, settings->folders.current);
    gyre_status status = GYRE_OK;
    for (const char *const *at = settings->environment; *at && status == GYRE_OK; at++) {
        if (!is_setting(*at))
            continue;
        const char *equals = strchr(*at, '=');
        int length = (int)(equals - *at);
        char *variable = gyre_pool_copy(settings->pool, *at + 5, (size_t)length - 5);
        const char *value = gyre_pool_copy(settings->pool, equals + 1, strlen(equals + 1));
        const char *origin = gyre_pool_format(settings->pool, "environment %.*s", length, *at);
        if (!variable || !value || !origin)
            return gyre_pool_no_memory();
        status = add_variable(settings, &source, variable, value, origin);
    }
    return status;
}

static gyre_status add_text(struct gyre_settings *settings, const struct gyre_source *source,
                            const char *text, const char *origin)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return gyre_error_set(GYRE_CONFIG,
                              "%s: '%s' is no setting; expected section.key=value, "
                              "such as backend.cpu.threads=2",
                              origin, text);
    char *path = gyre_pool_copy(settings->pool, text, (size_t)(equals - text));
    const char *value = gyre_pool_copy(settings->pool, equals + 1, strlen(equals + 1));
    if (!path || !value)
        return gyre_pool_no_memory();
    char *dot = strrchr(path, '.');
    if (dot)
        *dot = '\0';
    char *section = dot ? path : gyre_pool_copy(settings->pool, "gyre", 4);
    return section ? add_single(settings, source, section, dot ? dot + 1 : path, value, origin)
                   : gyre_pool_no_memory();
}

gyre_status gyre_sources_read_list(struct gyre_settings *settings, enum gyre_layer layer,
                                   const char *const *list)
{
    struct gyre_source source = new_source(settings, layer, settings->folders.current);
    gyre_status status = GYRE_OK;
    for (; list && *list && status == GYRE_OK; list++)
        status = add_text(settings, &source, *list, layer == GYRE_LAYER_API ? "api" : "command line");
    return status;
}
