/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the settings for compiling from the configuration (settings.c). */
#ifndef GYRE_CORE_PIPELINE_SETTINGS_H
#define GYRE_CORE_PIPELINE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

struct gyre_config;

enum gyre_check_mode { GYRE_CHECK_AUTO = 0, GYRE_CHECK_ON = 1, GYRE_CHECK_OFF = 2 }; /* of key `check` */

/** The settings for compiling. Texts live as long as the configuration. */
struct gyre_build_settings {
    enum gyre_check_mode check;
    const char *cache_dir; /* the cache's folder; "": nothing is cached */
    uint64_t cache_size, compile_timeout_ns;
    const char *options;          /* the backend's key `options` */
    const char *compiler_options; /* the backend's key `compiler_options`; "" if it has no such key */
    uint64_t lane_stack;          /* the backend's key `lane_stack`, bytes; 0 if it has no such key */
    bool keep_source;
};

void gyre_build_settings_read(const struct gyre_config *config, const char *backend,
                              struct gyre_build_settings *settings);

#endif
