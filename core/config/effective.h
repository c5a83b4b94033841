/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which settings of the layers take effect, and defines the object of a loaded configuration. */
#ifndef GYRE_CORE_CONFIG_EFFECTIVE_H
#define GYRE_CORE_CONFIG_EFFECTIVE_H

#include "core/config/config.h"
#include "core/config/settings.h"

/** One section. Its values lie side by side in the array of all values. */
struct gyre_config_part {
    enum gyre_section_kind kind;
    const char *name;
    size_t first, count;
};

struct gyre_config {
    struct gyre_pool pool; /* holds the memory of all members below */
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

/** Fills in the values, sections and names of *config. EXHAUSTED without memory. */
gyre_status gyre_effective_build(const struct gyre_settings *settings, struct gyre_config *config);
/** Adds a warning for each setting that has no effect because of other settings, and for each section name that is probably a
 * mistake (advice.c). EXHAUSTED. */
gyre_status gyre_config_advise(struct gyre_config *config);

#endif
