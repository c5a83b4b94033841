/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyre_pipeline_open: launches the kernels of a pipeline that are configured and not launched yet, and has the pipeline made
 * (core/links).
 */
#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/kernel/kernel_build.h"
#include "core/links/pipeline_make.h"
#include "core/plan/build_options.h"

static bool is_member(const gyre_pipeline_desc *desc, const char *name, size_t length)
{
    for (size_t i = 0; i < desc->link_count; i++) {
        const gyre_link_desc *link = &desc->links[i];
        if (link->pool && strlen(link->to) == length && memcmp(link->to, name, length) == 0)
            return true;
    }
    return false;
}

/* Whether a link with a level leads to the kernel. */
static bool has_level(const gyre_pipeline_desc *desc, const char *name, size_t length)
{
    for (size_t i = 0; i < desc->link_count; i++) {
        const gyre_link_desc *link = &desc->links[i];
        if (link->level && gyre_wiring_target_length(link->to) == length &&
            memcmp(link->to, name, length) == 0)
            return true;
    }
    return false;
}

/* Whether a link leads to one of the types that the kernel takes. */
static bool has_choice(const gyre_pipeline_desc *desc, const char *name, size_t length)
{
    for (size_t i = 0; i < desc->link_count; i++) {
        const char *to = desc->links[i].to;
        if (to[gyre_wiring_target_length(to)] && gyre_wiring_target_length(to) == length &&
            memcmp(to, name, length) == 0)
            return true;
    }
    return false;
}

/* The gyre_launch_desc.stage of a kernel: also that which programs may subscribe to is compiled for that. */
static int stage_of(const struct gyre_config *config, const gyre_pipeline_desc *desc, const char *name,
                    size_t length)
{
    int with = is_member(desc, name, length) ? GYRE_STAGE_WITH_POOL : 0;
    if (desc->quota && gyre_kernels_ask(config))
        with += GYRE_STAGE_WITH_ASKS;
    if (desc->rounds && desc->rounds[0])
        with += GYRE_STAGE_WITH_ROUNDS;
    if (has_level(desc, name, length))
        with += GYRE_STAGE_WITH_LEVELS;
    if (has_choice(desc, name, length))
        with += GYRE_STAGE_WITH_CHOICES;
    if (with || desc->window || desc->quota)
        return GYRE_STAGE_COUNTED + with;
    for (size_t i = 0; i < desc->link_count; i++) {
        const gyre_link_desc *link = &desc->links[i];
        if ((link->topic || strcmp(link->to, GYRE_WIRING_HOST) == 0) &&
            gyre_wiring_kernel_length(link->from) == length && memcmp(link->from, name, length) == 0)
            return GYRE_STAGE_COUNTED;
    }
    return GYRE_STAGE_LINKED;
}

/* Launches a kernel that has a section and no launch yet. What neither has, the wiring tells. */
static gyre_status launch_named(gyre_runtime *runtime, const gyre_pipeline_desc *desc, const char *name,
                                size_t length)
{
    char kernel[GYRE_PIPELINE_NAME_MAX];
    gyre_kernel *launched;
    if (length >= sizeof kernel)
        return GYRE_OK;
    memcpy(kernel, name, length);
    kernel[length] = '\0';
    if (gyre_kernel_find(runtime, kernel) ||
        !gyre_config_has_section(runtime->config, GYRE_SECTION_KERNEL, kernel))
        return GYRE_OK;
    const gyre_launch_desc launch = {
        .size = sizeof launch, .name = kernel, .stage = stage_of(runtime->config, desc, name, length)};
    return gyre_launch(runtime, &launch, &launched);
}

static gyre_status launch_kernels(gyre_runtime *runtime, const gyre_pipeline_desc *desc)
{
    gyre_status status = GYRE_OK;
    for (size_t i = 0; i < desc->entry_count && status == GYRE_OK; i++)
        status = launch_named(runtime, desc, desc->entries[i], strlen(desc->entries[i]));
    for (size_t i = 0; i < desc->link_count && status == GYRE_OK; i++) {
        const char *from = desc->links[i].from;
        status = launch_named(runtime, desc, from, gyre_wiring_kernel_length(from));
        if (status == GYRE_OK)
            status =
                launch_named(runtime, desc, desc->links[i].to, gyre_wiring_target_length(desc->links[i].to));
    }
    return status;
}

static gyre_status check_desc(const gyre_pipeline_desc *desc)
{
    if (!desc->name || !desc->name[0] || strlen(desc->name) >= GYRE_PIPELINE_NAME_MAX)
        return gyre_error_set(GYRE_INVALID, "a pipeline's name has 1 to %d characters",
                              GYRE_PIPELINE_NAME_MAX - 1);
    return gyre_text_is_plain(desc->name)
               ? GYRE_OK
               : gyre_error_set(GYRE_INVALID, "a pipeline's name: expected UTF-8 without control characters");
}

gyre_status gyre_pipeline_open(gyre_runtime *runtime, const gyre_pipeline_desc *desc, gyre_pipeline **out)
{
    gyre_pipeline_desc given = {.size = sizeof given};
    if (!runtime || !desc || !out || desc->size < sizeof desc->size)
        return GYRE_ARGUMENTS("gyre_pipeline_open", {"runtime", runtime}, GYRE_SIZED(desc), {"out", out});
    *out = NULL;
    memcpy(&given, desc, desc->size < sizeof given ? desc->size : sizeof given);
    gyre_status status = gyre_runtime_check_own(runtime, "gyre_pipeline_open");
    if (status == GYRE_OK)
        status = check_desc(&given);
    if (status != GYRE_OK)
        return status;
    if (gyre_pipeline_find(runtime, given.name))
        return gyre_error_set(GYRE_INVALID, "a pipeline '%s' is open already", given.name);
    struct gyre_wiring_config *wiring;
    status = gyre_wiring_config_create(runtime->config, runtime, &given, &wiring);
    if (status == GYRE_OK)
        status = launch_kernels(runtime, &wiring->desc);
    if (status == GYRE_OK)
        status = gyre_pipeline_make(runtime, wiring, out);
    gyre_wiring_config_destroy(wiring);
    return status == GYRE_OK ? status : gyre_error_add(status, "pipeline '%s'", given.name);
}
