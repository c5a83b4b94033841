/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which backends there are: those that the configuration names, then those that only lie in a plugin folder.
 *
 * Looks at names alone; opens no plugin. Relative libraries are looked for in the plugin folders, never in
 * the current directory.
 */
#ifndef GYRE_CORE_REGISTRY_MANIFEST_H
#define GYRE_CORE_REGISTRY_MANIFEST_H

#include "core/registry/registry.h"

struct gyre_manifest {
    char *name, *library;       /* library: absolute */
    const char *origin;         /* of the configuration; "" when nothing names the backend */
    const char *enabled_origin; /* what says `enabled` */
    const char *disabled_by;    /* its drop-in that is a link to the null device, or NULL */
    const char *not_built;      /* why the build left it out; "" when it was built */
    bool enabled, isolated, standby, replaced;
    int priority;
    uint64_t worker_timeout_ns;
    gyre_parameter *parameters; /* the array is the manifest's, its strings are the configuration's */
    size_t parameter_count;
};

/** In order of name. EXHAUSTED without memory. Owner of *out: the caller, until gyre_manifests_release. */
gyre_status gyre_manifests_list(const struct gyre_config *config, struct gyre_manifest **out, size_t *count);
/** Accepts NULL. */
void gyre_manifests_release(struct gyre_manifest *manifests, size_t count);

#endif
