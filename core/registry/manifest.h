/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the backends: the backends that the configuration names, and the backends whose plugin only lies in a plugin
 * folder (manifest.c).
 *
 * Looks at names of files only, and opens no plugin. A library with a relative path is looked for in the plugin
 * folders, never in the current directory.
 */
#ifndef GYRE_CORE_REGISTRY_MANIFEST_H
#define GYRE_CORE_REGISTRY_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/backend.h"

struct gyre_config;

struct gyre_manifest {
    char *name, *library;       /* library: absolute path */
    const char *origin;         /* the place in the configuration that names the backend; "": no place does */
    const char *enabled_origin; /* the place in the configuration that sets `enabled` */
    const char *disabled_by;    /* the backend's drop-in that is a link to the null device, or NULL */
    const char *not_built;      /* why the build left it out; "" when it was built */
    bool enabled, isolated, standby, replaced;
    int priority;
    uint64_t worker_timeout_ns;
    gyre_parameter *parameters; /* the manifest owns the array, the configuration owns its strings */
    size_t parameter_count;
};

/**
 * Lists all backends in order of name. EXHAUSTED without memory. Owner of *out: the caller, until
 * gyre_manifests_release.
 */
gyre_status gyre_manifests_list(const struct gyre_config *config, struct gyre_manifest **out, size_t *count);
/** Accepts NULL. */
void gyre_manifests_release(struct gyre_manifest *manifests, size_t count);

#endif
