/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the stages of the pipeline in order (pipeline.h). Takes no lock: each run owns what it works with, and the
 * things that several runs share (the device, the cache) have locks of their own. Each stage fills its line of the
 * report, also when it fails.
 */
#include "core/base/error.h"
#include "core/base/file_write.h"
#include "core/base/text.h"
#include "core/pipeline/build.h"
#include "core/pipeline/canary_unit.h"
#include "core/pipeline/handler.h"
#include "core/pipeline/pipeline.h"
#include "core/pipeline/run.h"
#include "core/pipeline/unit.h"
#include "gyre/waiting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static gyre_status stage_discover(struct gyre_run *run)
{
    uint64_t start = gyre_clock_ns();
    gyre_status status = gyre_source_read(run->desc->source, &run->source);
    memcpy(run->report.file, run->source.path, sizeof run->report.file);
    if (status == GYRE_OK && run->desc->canary) {
        run->settings.check = GYRE_CHECK_OFF; /* each of the two was checked alone */
        status = gyre_canary_compose(run->desc->canary, &run->source);
    }
    if (status == GYRE_OK)
        gyre_run_tell(run, GYRE_STAGE_DISCOVER, GYRE_STAGE_DONE, "%s of %zu bytes",
                      run->source.is_artifact ? "a compiled kernel file" : "a source", run->source.size);
    return gyre_run_settle(run, GYRE_STAGE_DISCOVER, start, status);
}

static gyre_status stage_generate(struct gyre_run *run)
{
    uint64_t start = gyre_clock_ns();
    char *text = gyre_unit_text(&run->source);
    gyre_status status = text ? gyre_workspace_create(&run->workspace)
                              : gyre_error_set(GYRE_EXHAUSTED, "no memory for the translation unit");
    if (status == GYRE_OK)
        status = gyre_workspace_write_unit(&run->workspace, text);
    if (status == GYRE_OK && text)
        gyre_run_tell(run, GYRE_STAGE_GENERATE, GYRE_STAGE_DONE, "one unit of %zu bytes", strlen(text));
    free(text);
    return gyre_run_settle(run, GYRE_STAGE_GENERATE, start, status);
}

static gyre_status call_compiler(struct gyre_run *run)
{
    const struct gyre_canary_unit *canary = run->desc->canary;
    const char *folders[] = {run->source.folder, run->headers, canary ? canary->folder : NULL, NULL};
    gyre_compile_desc desc = {.size = sizeof desc,
                              .unit_path = run->workspace.unit,
                              .include_directories = folders,
                              .options = run->options,
                              .artifact_path = run->workspace.image,
                              .dependency_path = run->workspace.dependencies,
                              .deadline_ns = gyre_clock_ns() + run->settings.compile_timeout_ns,
                              .messages = run->report.messages,
                              .messages_size = sizeof run->report.messages};
    return gyre_dispatch_compile(run->desc->device, &desc);
}

static gyre_status stage_compile(struct gyre_run *run)
{
    uint64_t start = gyre_clock_ns();
    clock_gettime(CLOCK_REALTIME, &run->started);
    gyre_status status = call_compiler(run);
    if (status == GYRE_OK)
        status = gyre_artifact_open_image(run->workspace.image, &run->artifact);
    if (status == GYRE_OK) {
        memcpy(run->artifact_path, run->workspace.image, sizeof run->artifact_path);
        gyre_run_tell(run, GYRE_STAGE_COMPILE, GYRE_STAGE_DONE, "%.200s",
                      gyre_dispatch_device_info(run->desc->device)->compiler);
    }
    return gyre_run_settle(run, GYRE_STAGE_COMPILE, start, status);
}

/* Fails with the finding of the check. check_wins decides that this finding tells more than the compiler's error. */
static gyre_status fail_check(struct gyre_run *run)
{
    const struct gyre_stage_report *compiled = &run->report.stages[GYRE_STAGE_COMPILE];
    gyre_run_tell(run, GYRE_STAGE_COMPILE, GYRE_STAGE_SKIPPED, "%s",
                  compiled->state == GYRE_STAGE_NOT_REACHED ? "not before the check has passed it"
                                                            : "its result is not used");
    snprintf(run->report.messages, sizeof run->report.messages, "%s", run->check.messages);
    bool demanded = run->check.verdict == GYRE_CHECK_UNAVAILABLE;
    gyre_error_set(run->check.status, "%s%s", demanded ? "the setting check = on asks for a check: " : "",
                   run->check.sentence);
    gyre_run_tell(run, run->check.stage, GYRE_STAGE_FAILED, "%s", run->check.sentence);
    return gyre_error_add(run->check.status, "%s", gyre_stage_word(run->check.stage));
}

static void tell_check(struct gyre_run *run)
{
    const struct gyre_check *check = &run->check;
    run->report.stages[GYRE_STAGE_CHECK].duration_ns = check->duration_ns;
    if (check->verdict == GYRE_CHECK_PASSED)
        gyre_run_tell(run, GYRE_STAGE_CHECK, GYRE_STAGE_DONE, "%u kernel%s, within the dialect",
                      check->kernel_count, gyre_text_plural(check->kernel_count));
    else if (check->verdict == GYRE_CHECK_UNAVAILABLE)
        gyre_run_tell(run, GYRE_STAGE_CHECK, GYRE_STAGE_SKIPPED, "%.250s", check->sentence);
    else if (check->stage == GYRE_STAGE_CHECK)
        gyre_run_tell(run, GYRE_STAGE_CHECK, GYRE_STAGE_FAILED, "%.250s", check->sentence);
}

/*
 * Whether the checker's parser names a line of the kernel's file, and the compiler does not. With a missing brace,
 * for example, the compiler stops only in the part of the generated unit that follows the file.
 */
static bool check_says_where(const struct gyre_run *run)
{
    size_t length = strlen(run->source.path);
    return strncmp(run->check.sentence, run->source.path, length) == 0 &&
           run->check.sentence[length] == ':' &&
           !strstr(run->report.stages[GYRE_STAGE_COMPILE].text, run->source.path);
}

/* Whether the check fails the run, whatever the compiler says. */
static bool check_forbids(const struct gyre_run *run)
{
    return run->check.verdict == GYRE_CHECK_REFUSED ||
           (run->check.verdict == GYRE_CHECK_UNAVAILABLE && run->settings.check == GYRE_CHECK_ON);
}

/*
 * Whether the check's finding is told and not the compiler's error. A refusal always is. An error of the checker's
 * parser is told only if the compiler reported none, or none with a line of the file: both read the same text, and
 * the compiler's sentence fits the compiler's options.
 */
static bool check_wins(const struct gyre_run *run, gyre_status compiled)
{
    if (run->check.verdict != GYRE_CHECK_UNPARSED)
        return check_forbids(run);
    return compiled == GYRE_OK || (compiled == GYRE_FAILED && check_says_where(run));
}

static void start_check(struct gyre_run *run)
{
    struct gyre_dispatch *device = run->desc->device;
    const uint32_t links = gyre_dispatch_device_info(device)->knows_links;
    run->check =
        (struct gyre_check){.source = &run->source,
                            .headers = run->headers,
                            .compiler_options = run->settings.compiler_options,
                            .options = run->options,
                            .portless = links ? NULL : gyre_dispatch_backend(device),
                            .wordless = links & GYRE_LINKING_WORDS ? NULL : gyre_dispatch_backend(device),
                            .askless = links & GYRE_LINKING_ASKS ? NULL : gyre_dispatch_backend(device),
                            .roundless = links & GYRE_LINKING_ROUNDS ? NULL : gyre_dispatch_backend(device),
                            .lane_stack = run->settings.lane_stack,
                            .deadline_ns = gyre_clock_ns() + run->settings.compile_timeout_ns,
                            .stage = GYRE_STAGE_CHECK};
    if (run->settings.check == GYRE_CHECK_OFF)
        gyre_run_tell(run, GYRE_STAGE_CHECK, GYRE_STAGE_SKIPPED, "the setting check is off");
    else
        gyre_check_start(&run->check);
}

/*
 * Waits for the check where the compiler must not see a refused source. A source that only the checker's parser
 * cannot read is compiled: the compiler's parser stops at the same place.
 */
static bool is_to_be_compiled(struct gyre_run *run)
{
    if (run->settings.check == GYRE_CHECK_OFF || !gyre_dispatch_device_info(run->desc->device)->check_first)
        return true;
    gyre_check_join(&run->check);
    return !check_forbids(run);
}

static gyre_status make_artifact(struct gyre_run *run)
{
    start_check(run);
    gyre_status status = stage_generate(run);
    if (status == GYRE_OK && is_to_be_compiled(run))
        status = stage_compile(run);
    if (run->settings.check == GYRE_CHECK_OFF)
        return gyre_run_blame_options(run, status);
    gyre_check_join(&run->check);
    tell_check(run);
    return check_wins(run, status) ? fail_check(run) : gyre_run_blame_options(run, status);
}

static gyre_status prepare_options(struct gyre_run *run)
{
    const char *own = run->desc->options ? run->desc->options : "";
    int length = snprintf(run->options, sizeof run->options, "%s %s", run->settings.options, own);
    if (length < 0 || (size_t)length >= sizeof run->options)
        return gyre_error_set(GYRE_CONFIG, "the compiler options are longer than %zu bytes",
                              sizeof run->options - 1);
    run->headers = gyre_build_headers();
    if (!run->headers)
        return GYRE_UNAVAILABLE;
    gyre_run_open_cache(run);
    return GYRE_OK;
}

/* A canary's old handler is compiled of its text as it was, and of its headers as they are. */
static gyre_status check_old_headers(const struct gyre_run *run)
{
    const struct gyre_canary_unit *canary = run->desc->canary;
    if (!canary || !canary->handler)
        return GYRE_OK;
    struct gyre_source old = {.text = (char *)canary->text, .size = strlen(canary->text)};
    snprintf(old.path, sizeof old.path, "%s", canary->path);
    snprintf(old.folder, sizeof old.folder, "%s", canary->folder);
    if (gyre_handler_hash(&old, run->headers, run->options) == canary->handler)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "a header of '%s' has changed since that was compiled, and a canary compiles the old handler again: give "
        "the new header another name or folder, or swap without a canary",
        canary->path);
}

/* Obtains the artifact in the quickest way: the source is an artifact itself, the cache has one, or it is compiled. */
static gyre_status obtain_artifact(struct gyre_run *run)
{
    if (run->source.is_artifact)
        return gyre_run_take_artifact(run);
    gyre_status status = prepare_options(run);
    if (status == GYRE_OK)
        status = check_old_headers(run);
    if (status != GYRE_OK)
        return status;
    run->handler = gyre_handler_hash(&run->source, run->headers, run->options);
    if (gyre_run_find(run))
        return GYRE_OK;
    status = make_artifact(run);
    if (status == GYRE_OK)
        gyre_run_keep(run);
    return status;
}

static gyre_status stage_load(struct gyre_run *run)
{
    uint64_t start = gyre_clock_ns();
    gyre_status status = gyre_build_create(run->desc->device, &run->source, &run->build);
    if (status == GYRE_OK)
        run->build->handler = run->handler;
    if (status == GYRE_OK)
        status = gyre_build_load(run->build, run->artifact_path, &run->artifact);
    if (status == GYRE_OK)
        gyre_run_tell(run, GYRE_STAGE_LOAD, GYRE_STAGE_DONE, "%zu kernel%s", run->build->count,
                      gyre_text_plural(run->build->count));
    return gyre_run_settle(run, GYRE_STAGE_LOAD, start, status);
}

static gyre_status stage_verify(struct gyre_run *run)
{
    uint64_t start = gyre_clock_ns();
    char text[128] = "";
    const gyre_kernel_record *named;
    gyre_status status = gyre_build_verify(run->build, text, sizeof text);
    if (status == GYRE_OK && run->source.kernel[0])
        status = gyre_build_kernel(run->build, NULL, &named);
    if (status == GYRE_OK)
        gyre_run_tell(run, GYRE_STAGE_VERIFY, GYRE_STAGE_DONE, "%s", text);
    return gyre_run_settle(run, GYRE_STAGE_VERIFY, start, status);
}

/* Makes an artifact again for this run, because another process evicted the entry of the cache before it was loaded. */
static gyre_status load_again(struct gyre_run *run)
{
    gyre_build_release(run->build);
    gyre_artifact_close(&run->artifact);
    gyre_workspace_remove(&run->workspace);
    run->build = NULL;
    run->cache.usable = false;
    run->report.cache_hit = false;
    run->report.artifact[0] = '\0';
    gyre_status status = make_artifact(run);
    return status == GYRE_OK ? stage_load(run) : status;
}

static bool output_is_wanted(const struct gyre_run *run)
{
    const struct gyre_build_desc *desc = run->desc;
    return desc->output && (!desc->output_fits || desc->output_fits(desc->context, run->build));
}

static gyre_status run_stages(struct gyre_run *run)
{
    gyre_status status = stage_discover(run);
    if (status == GYRE_OK)
        status = gyre_run_check_output(run);
    if (status == GYRE_OK)
        status = obtain_artifact(run);
    if (status != GYRE_OK)
        return status;
    status = stage_load(run);
    if (status != GYRE_OK && !run->source.is_artifact && access(run->artifact_path, F_OK) != 0)
        status = load_again(run);
    if (status == GYRE_OK)
        status = stage_verify(run);
    return status == GYRE_OK && output_is_wanted(run) ? gyre_run_write_output(run) : status;
}

gyre_status gyre_build_run(const struct gyre_build_desc *desc, struct gyre_build **out)
{
    *out = NULL;
    struct gyre_run *run = calloc(1, sizeof *run);
    if (!run)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to compile a kernel");
    run->desc = desc;
    gyre_build_settings_read(desc->config, gyre_dispatch_backend(desc->device), &run->settings);
    struct gyre_file_hush hush; /* for what a plugin's compiler writes in this process, too */
    gyre_file_hush_begin(&hush);
    gyre_status status = run_stages(run);
    gyre_file_hush_end(&hush);
    if (desc->report)
        *desc->report = run->report;
    if (status == GYRE_OK) {
        run->build->report = run->report;
        *out = run->build;
        run->build = NULL;
    }
    gyre_build_release(run->build);
    gyre_artifact_close(&run->artifact);
    gyre_workspace_remove(&run->workspace);
    gyre_source_finish(&run->source);
    free(run);
    return status;
}
