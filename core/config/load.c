/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a configuration (gyre_config_load in config.h): reads the layers in their order, decides which settings take effect,
 * and collects warnings. Changes no environment variable and prints nothing.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/config/effective.h"
#include "core/config/settings.h"

static gyre_status read_layers(const struct gyre_config_desc *desc, struct gyre_settings *settings)
{
    gyre_status status = gyre_folders_find(desc, settings->environment, settings->pool, &settings->folders);
    if (status == GYRE_OK)
        status = gyre_sources_read_files(settings, desc);
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

/* The environment to read. After clearenv() the program's list is NULL; then an empty list takes its place. */
static const char *const *environment_of(const struct gyre_config_desc *desc)
{
    static const char *const none[] = {NULL};
    const char *const *given = desc->environment ? desc->environment : (const char *const *)environ;
    return given ? given : none;
}

static gyre_status load_layers(const struct gyre_config_desc *desc, struct gyre_config *config)
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
    gyre_status status = load_layers(desc ? desc : &usual, config);
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
