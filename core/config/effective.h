/* SPDX-License-Identifier: Apache-2.0 */
/* From what the layers said to what takes effect; and what a loaded configuration is made of. */
#ifndef GYRE_CORE_CONFIG_EFFECTIVE_H
#define GYRE_CORE_CONFIG_EFFECTIVE_H

#include "core/config/config.h"
#include "core/config/settings.h"

/** The values of one section lie side by side. */
struct gyre_config_part {
    enum gyre_section_kind kind;
    const char *name;
    size_t first, count;
};

struct gyre_config {
    struct gyre_pool pool; /* holds all that follows */
    struct gyre_config_value *values;
    size_t value_count;
    struct gyre_config_part *parts;
    size_t part_count;
    const char **names[GYRE_SECTION_KINDS];
    size_t name_counts[GYRE_SECTION_KINDS];
    const char **warnings;
    size_t warning_count;
    struct gyre_config_manifest *manifests;
    size_t manifest_count;
};

/** Fills in values, parts and names. EXHAUSTED without memory. */
gyre_status gyre_effective_build(const struct gyre_settings *settings, struct gyre_config *config);
/** Adds a warning for each setting that has no effect beside the others. EXHAUSTED. */
gyre_status gyre_config_advise(struct gyre_config *config);

#endif
