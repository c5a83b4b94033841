/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What finds backends and compiles handlers, linked in the place of core/registry and core/pipeline: one backend,
 * whose devices are those of worker.c, and one file with one kernel, that of handler.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dispatch/dispatch.h"
#include "core/pipeline/build.h"
#include "core/registry/registry.h"
#include "handler.h"

struct gyre_registry {
    struct gyre_candidate candidate;
};

gyre_status gyre_registry_create(const struct gyre_config *config, struct gyre_registry **out)
{
    (void)config;
    *out = calloc(1, sizeof **out);
    if (!*out)
        abort();
    (*out)->candidate = (struct gyre_candidate){.name = "cpu",
                                                .library = "",
                                                .origin = "",
                                                .enabled = true,
                                                .isolated = true,
                                                .replaced = true,
                                                .built = true,
                                                .worker_timeout_ns = UINT64_C(10000000000),
                                                .judged = true,
                                                .device_count = 1};
    return GYRE_OK;
}

void gyre_registry_destroy(struct gyre_registry *registry)
{
    free(registry);
}

size_t gyre_registry_count(const struct gyre_registry *registry)
{
    (void)registry;
    return 1;
}

const struct gyre_candidate *gyre_registry_at(const struct gyre_registry *registry, size_t index)
{
    (void)index;
    return &registry->candidate;
}

void gyre_registry_hold(struct gyre_registry *registry, const struct gyre_candidate *candidate)
{
    (void)registry;
    (void)candidate;
}

gyre_status gyre_registry_choose(struct gyre_registry *registry, const char *name_or_auto,
                                 const struct gyre_candidate **out, char *why, size_t why_size)
{
    (void)name_or_auto;
    snprintf(why, why_size, "there is no other one");
    *out = &registry->candidate;
    return GYRE_OK;
}

/* ---- the compiler ---- */

struct gyre_build {
    struct gyre_dispatch *device;
    struct gyre_build_report report;
};

static const gyre_type *const no_buffers[] = {NULL};
static const gyre_kernel_record record = {.size = sizeof record,
                                          .name = "whole",
                                          .form = GYRE_FORM_ACTOR,
                                          .request = GYRE_TYPE(whole_request),
                                          .reply = GYRE_TYPE(whole_state),
                                          .state = GYRE_TYPE(whole_state),
                                          .buffers = "",
                                          .buffer_types = no_buffers};

gyre_status gyre_build_run(const struct gyre_build_desc *desc, struct gyre_build **out)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        abort();
    (*out)->device = gyre_dispatch_retain(desc->device);
    return GYRE_OK;
}

struct gyre_build *gyre_build_retain(struct gyre_build *build)
{
    return build;
}

void gyre_build_release(struct gyre_build *build)
{
    if (build)
        gyre_dispatch_close(build->device);
    free(build);
}

gyre_module *gyre_build_module(const struct gyre_build *build)
{
    (void)build;
    return NULL;
}

const struct gyre_build_report *gyre_build_report(const struct gyre_build *build)
{
    return &build->report;
}

bool gyre_build_lacks(const struct gyre_build *build, const char *options, char *lacking, size_t size)
{
    (void)build;
    (void)options;
    (void)size;
    lacking[0] = '\0';
    return false;
}

uint64_t gyre_build_handler(const struct gyre_build *build)
{
    (void)build;
    return 1;
}

size_t gyre_build_count(const struct gyre_build *build)
{
    (void)build;
    return 1;
}

const gyre_kernel_record *gyre_build_at(const struct gyre_build *build, size_t index)
{
    (void)build;
    return index == 0 ? &record : NULL;
}

const gyre_kernel_record *gyre_build_migration(const struct gyre_build *build, size_t index)
{
    (void)build;
    (void)index;
    return NULL;
}

gyre_status gyre_build_kernel(const struct gyre_build *build, const char *name,
                              const gyre_kernel_record **out)
{
    (void)build;
    (void)name;
    *out = &record;
    return GYRE_OK;
}
