/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds a kernel's source for the device of the kernel (kernel_build.h). No other thread has the kernel.
 */
#include "core/kernel/kernel_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/device/devices.h"
#include "core/kernel/sections.h"
#include "core/pipeline/build.h"

static const char *kernel_text(const gyre_kernel *kernel, const char *key)
{
    return gyre_config_text(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, key);
}

/* Logs the compiler's messages, as a warning if the compiler warns: that is mostly a mistake in the kernel, for example a
 * variable without a value. */
static void tell_compiler(gyre_kernel *kernel, gyre_status status, const char *messages)
{
    const bool warns = status == GYRE_OK && strstr(messages, "warning") != NULL;
    gyre_runtime_log(kernel->runtime, warns ? GYRE_LOG_WARNING : GYRE_LOG_INFO, "%s%s",
                     warns ? GYRE_COMPILER_WARNS : "", messages);
}

/* Whether the file of the kernel's source is not there or is none, or has no such kernel. */
static bool is_source_wrong(const struct gyre_build_report *report, gyre_status status)
{
    if (report->stages[GYRE_STAGE_DISCOVER].state == GYRE_STAGE_FAILED)
        return status == GYRE_NOT_FOUND || status == GYRE_INVALID;
    return status == GYRE_NOT_FOUND && report->stages[GYRE_STAGE_VERIFY].state != GYRE_STAGE_NOT_REACHED;
}

static void add_option(char *options, size_t size, const char *option)
{
    if (!strstr(options, option) && strlen(options) + strlen(option) < size)
        strcat(options, option);
}

gyre_status gyre_kernel_build(gyre_kernel *kernel, const gyre_launch_desc *desc)
{
    char options[GYRE_KERNEL_OPTIONS_SIZE];
    struct gyre_build_report *report = calloc(1, sizeof *report);
    const struct gyre_config *config = kernel->runtime->config;
    const char *source = desc->source, *name = kernel->name;
    gyre_status status = source ? GYRE_OK : gyre_kernel_source(config, name, &source);
    if (status == GYRE_OK && !report)
        status = gyre_error_set(GYRE_EXHAUSTED, "no memory to build a kernel");
    if (status != GYRE_OK) {
        free(report);
        return status;
    }
    kernel->polled = !gyre_dispatch_device_info(kernel->dispatch)->can_wake ||
                     !gyre_config_bool(config, GYRE_SECTION_KERNEL, name, "bells");
    gyre_kernel_options(config, name, options, sizeof options);
    if (desc->stage)
        add_option(options, sizeof options, GYRE_KERNEL_STAGE_OPTION);
    if (desc->stage >= GYRE_STAGE_COUNTED)
        add_option(options, sizeof options, GYRE_KERNEL_LIMITS_OPTION);
    if (gyre_stage_knows(desc->stage, GYRE_STAGE_WITH_ASKS))
        add_option(options, sizeof options, GYRE_KERNEL_ASKS_OPTION);
    if (gyre_stage_knows(desc->stage, GYRE_STAGE_WITH_POOL))
        add_option(options, sizeof options, GYRE_KERNEL_POOLS_OPTION);
    if (gyre_stage_knows(desc->stage, GYRE_STAGE_WITH_ROUNDS))
        add_option(options, sizeof options, GYRE_KERNEL_ROUNDS_OPTION);
    if (gyre_stage_knows(desc->stage, GYRE_STAGE_WITH_LEVELS))
        add_option(options, sizeof options, GYRE_KERNEL_LEVELS_OPTION);
    if (gyre_stage_knows(desc->stage, GYRE_STAGE_WITH_CHOICES))
        add_option(options, sizeof options, GYRE_KERNEL_CHOICES_OPTION);
    struct gyre_build_desc pipeline = {.config = config,
                                       .device = kernel->dispatch,
                                       .source = source,
                                       .options = options,
                                       .configured = name,
                                       .report = report,
                                       .canary = kernel->unit};
    status = gyre_build_run(&pipeline, &kernel->build);
    if (report->warning[0] && !kernel->only_built)
        gyre_runtime_log(kernel->runtime, GYRE_LOG_WARNING, "%s", report->warning);
    if (report->messages[0] && !kernel->only_built)
        tell_compiler(kernel, status, report->messages);
    if (status == GYRE_OK)
        status = gyre_build_kernel(kernel->build, desc->kernel, &kernel->record);
    if (!desc->source && is_source_wrong(report, status))
        status = gyre_sections_blame_source(kernel);
    free(report);
    return status;
}

/* Opens the device and builds the kernel, with the settings of the kernel's present name. */
static gyre_status build_as_configured(gyre_kernel *kernel, const gyre_launch_desc *desc)
{
    gyre_status status =
        gyre_kernel_device(kernel->runtime, kernel->name, desc->backend, desc->device, &kernel->dispatch);
    return status == GYRE_OK ? gyre_kernel_build(kernel, desc) : status;
}

/* True when the settings of two kernel names lead to the same build. */
static bool built_alike(const gyre_kernel *kernel, const gyre_launch_desc *desc, const char *one,
                        const char *other)
{
    const struct gyre_config *config = kernel->runtime->config;
    return strcmp(gyre_kernel_backend(config, one, desc->backend),
                  gyre_kernel_backend(config, other, desc->backend)) == 0 &&
           gyre_kernel_same_options(config, one, other);
}

gyre_status gyre_kernel_build_by_name(gyre_kernel *kernel, const gyre_launch_desc *desc)
{
    char guessed[GYRE_NAME_MAX];
    if (desc->name || desc->kernel)
        snprintf(guessed, sizeof guessed, "%s", desc->name ? desc->name : desc->kernel);
    else
        gyre_kernel_guess_name(desc->source, guessed, sizeof guessed);
    memcpy(kernel->name, guessed, sizeof guessed);
    gyre_status status = build_as_configured(kernel, desc);
    if (status != GYRE_OK || desc->name)
        return status;
    snprintf(kernel->name, sizeof kernel->name, "%s", kernel->record->name);
    if (built_alike(kernel, desc, guessed, kernel->name))
        return GYRE_OK;
    gyre_build_release(kernel->build);
    kernel->build = NULL;
    kernel->record = NULL;
    return build_as_configured(kernel, desc);
}

gyre_status gyre_kernel_check_compiled(const gyre_kernel *kernel)
{
    char options[GYRE_KERNEL_OPTIONS_SIZE], lacking[GYRE_KERNEL_OPTIONS_SIZE];
    const char *file = gyre_build_report(kernel->build)->file;
    if (gyre_build_lacks(kernel->build, kernel_text(kernel, "options"), lacking, sizeof lacking))
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "'%s' was compiled without %s, which the options of kernel '%s' ask for now: compile "
            "it again with these settings",
            file, lacking, kernel->name);
    gyre_kernel_options(kernel->runtime->config, kernel->name, options, sizeof options);
    if (gyre_build_lacks(kernel->build, options, lacking, sizeof lacking))
        gyre_runtime_log(
            kernel->runtime, GYRE_LOG_WARNING,
            "'%s' was compiled without %s, which the settings of kernel '%s' or of a queue need now: "
            "what they ask for does not reach its handler; compile it again with these settings",
            file, lacking, kernel->name);
    return GYRE_OK;
}
