/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the settings for compiling (settings.h), and finds the folder with the dialect's headers
 * (gyre_build_headers).
 */
#include "core/base/error.h"
#include "core/base/places.h"
#include "core/config/config.h"
#include "core/pipeline/settings.h"
#include "core/pipeline/pipeline.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MINUTE_NS (UINT64_C(60) * 1000000000)

static struct {
    pthread_once_t once;
    bool found;
    char folder[PATH_MAX];
} headers = {.once = PTHREAD_ONCE_INIT};

void gyre_build_settings_read(const struct gyre_config *config, const char *backend,
                              struct gyre_build_settings *settings)
{
    *settings = (struct gyre_build_settings){.check = GYRE_CHECK_AUTO,
                                             .cache_dir = "",
                                             .compile_timeout_ns = MINUTE_NS,
                                             .options = "",
                                             .compiler_options = ""};
    if (!config)
        return;
    settings->check = (enum gyre_check_mode)gyre_config_int(config, GYRE_SECTION_GYRE, NULL, "check");
    settings->cache_dir = gyre_config_text(config, GYRE_SECTION_GYRE, NULL, "cache_dir");
    settings->cache_size = (uint64_t)gyre_config_int(config, GYRE_SECTION_GYRE, NULL, "cache_size");
    settings->compile_timeout_ns = gyre_config_ns(config, GYRE_SECTION_GYRE, NULL, "compile_timeout_ms");
    settings->options = gyre_config_text(config, GYRE_SECTION_BACKEND, backend, "options");
    settings->compiler_options = gyre_config_text(config, GYRE_SECTION_BACKEND, backend, "compiler_options");
    if (gyre_config_find(config, GYRE_SECTION_BACKEND, backend, "lane_stack"))
        settings->lane_stack = (uint64_t)gyre_config_int(config, GYRE_SECTION_BACKEND, backend, "lane_stack");
    settings->keep_source = gyre_config_bool(config, GYRE_SECTION_BACKEND, backend, "keep_source");
}

/* Finds the headers from LIBRARY_FOLDER/gyre: where an install puts them, else where the build tree has them. */
static void find_headers(void)
{
    static const char *const candidates[] = {GYRE_HEADERS_FROM_HOME, "../../include"};
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0] && !headers.found; i++) {
        char place[PATH_MAX], file[PATH_MAX + 16];
        int length = snprintf(place, sizeof place, "%s/%s", gyre_place_home(), candidates[i]);
        if (length < 0 || (size_t)length >= sizeof place || !realpath(place, headers.folder))
            continue;
        snprintf(file, sizeof file, "%s/gyre/kernel.h", headers.folder);
        headers.found = access(file, R_OK) == 0;
    }
}

const char *gyre_build_headers(void)
{
    pthread_once(&headers.once, find_headers);
    if (headers.found)
        return headers.folder;
    gyre_error_set(GYRE_UNAVAILABLE,
                   "the headers of handlers are not installed: there is no '%s/" GYRE_HEADERS_FROM_HOME
                   "/gyre/kernel.h': install them there, or launch compiled files (gyre compile -o)",
                   gyre_place_home());
    return NULL;
}
