/* SPDX-License-Identifier: Apache-2.0 */
/* The settings for compiling, read from the configuration. */
#ifndef GYRE_CORE_PIPELINE_SETTINGS_H
#define GYRE_CORE_PIPELINE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

struct gyre_config;

enum gyre_check_mode { GYRE_CHECK_AUTO = 0, GYRE_CHECK_ON = 1, GYRE_CHECK_OFF = 2 }; /* as in the table */

/** The settings for compiling. Texts live as long as the configuration. */
struct gyre_pipeline_settings {
    enum gyre_check_mode check;
    const char *cache_dir; /* "" keeps nothing */
    uint64_t cache_size, compile_timeout_ns;
    const char *options;          /* of the backend */
    const char *compiler_options; /* those of a backend that has a key for its own compiler's; else "" */
    uint64_t lane_stack;          /* bytes, of a backend that has the key; 0: another */
    bool keep_source;
};

void gyre_pipeline_settings_read(const struct gyre_config *config, const char *backend,
                                 struct gyre_pipeline_settings *settings);

#endif
