/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of the stages. A run owns everything it works with, so there are no locks; what several runs
 * share (the device, the cache) has its own. Each stage fills its line of the report, also when it fails.
 */
#include "core/pipeline/pipeline.h"
#include "core/base/error.h"
#include "core/pipeline/internal.h"
#include "gyre/waiting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
    const struct gyre_pipeline_desc *desc;
    struct gyre_pipeline_settings settings;
    struct gyre_source source;
    struct gyre_workspace workspace;
    struct gyre_check check;
    struct gyre_artifact artifact;
    char artifact_path[PATH_MAX];
    struct gyre_build *build;
    struct gyre_pipeline_report report;
};

const char *gyre_stage_word(enum gyre_stage stage)
{
    static const char *const words[] = {"discover", "check", "generate", "compile", "load", "verify"};
    return (size_t)stage < GYRE_STAGE_COUNT ? words[stage] : "unknown";
}

const char *gyre_stage_state_word(enum gyre_stage_state state)
{
    static const char *const words[] = {"not reached", "done", "cached", "skipped", "failed"};
    return (size_t)state < sizeof words / sizeof words[0] ? words[state] : "unknown";
}

/* ---- the report ---- */

__attribute__((format(printf, 4, 5))) static void tell(struct run *run, enum gyre_stage stage,
                                                       enum gyre_stage_state state, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(run->report.stages[stage].text, sizeof run->report.stages[stage].text, format, args);
    va_end(args);
    run->report.stages[stage].state = state;
}

/* Called at the end of a stage that can fail, with its start. */
static gyre_status settle(struct run *run, enum gyre_stage stage, uint64_t start, gyre_status status)
{
    run->report.stages[stage].duration_ns = gyre_clock_ns() - start;
    if (status == GYRE_OK)
        return GYRE_OK;
    tell(run, stage, GYRE_STAGE_FAILED, "%s", gyre_error_cause());
    return gyre_error_add(status, "%s", gyre_stage_word(stage));
}

static void add_messages(struct run *run, const char *text)
{
    size_t used = strlen(run->report.messages), size = sizeof run->report.messages;
    snprintf(run->report.messages + used, size - used, "%s", text);
}

/* ---- stages ---- */

static gyre_status discover(struct run *run)
{
    uint64_t start = gyre_clock_ns();
    gyre_status status = gyre_source_read(run->desc->source, &run->source);
    memcpy(run->report.file, run->source.path, sizeof run->report.file);
    if (status == GYRE_OK)
        tell(run, GYRE_STAGE_DISCOVER, GYRE_STAGE_DONE, "%s of %zu bytes",
             run->source.is_artifact ? "a compiled kernel file" : "a source", run->source.size);
    return settle(run, GYRE_STAGE_DISCOVER, start, status);
}

static gyre_status generate(struct run *run)
{
    uint64_t start = gyre_clock_ns();
    char *text = gyre_unit_text(&run->source);
    gyre_status status = text ? gyre_workspace_create(&run->workspace)
                              : gyre_error_set(GYRE_EXHAUSTED, "no memory for the translation unit");
    if (status == GYRE_OK)
        status = gyre_workspace_write_unit(&run->workspace, text);
    if (status == GYRE_OK)
        tell(run, GYRE_STAGE_GENERATE, GYRE_STAGE_DONE, "one unit of %zu bytes", strlen(text));
    free(text);
    return settle(run, GYRE_STAGE_GENERATE, start, status);
}

static gyre_status call_compiler(struct run *run, const char *headers, char *messages, size_t messages_size)
{
    char options[2048];
    const char *folders[] = {run->source.folder, headers, NULL};
    const char *own = run->desc->options ? run->desc->options : "";
    int length = snprintf(options, sizeof options, "%s %s", run->settings.options, own);
    if (length < 0 || (size_t)length >= sizeof options)
        return gyre_error_set(GYRE_CONFIG, "the compiler options are longer than %zu bytes",
                              sizeof options - 1);
    gyre_compile_desc desc = {.size = sizeof desc,
                              .unit_path = run->workspace.unit,
                              .include_directories = folders,
                              .options = options,
                              .artifact_path = run->workspace.image,
                              .dependency_path = run->workspace.dependencies,
                              .deadline_ns = gyre_clock_ns() + run->settings.compile_timeout_ns,
                              .messages = messages,
                              .messages_size = messages_size};
    return gyre_dispatch_compile(run->desc->device, &desc);
}

static gyre_status compile(struct run *run, const char *headers)
{
    uint64_t start = gyre_clock_ns();
    char messages[sizeof run->report.messages] = "";
    gyre_status status = call_compiler(run, headers, messages, sizeof messages);
    add_messages(run, messages);
    if (status == GYRE_OK)
        status = gyre_artifact_open_image(run->workspace.image, &run->artifact);
    if (status == GYRE_OK) {
        memcpy(run->artifact_path, run->workspace.image, sizeof run->artifact_path);
        tell(run, GYRE_STAGE_COMPILE, GYRE_STAGE_DONE, "%.200s",
             gyre_dispatch_device_info(run->desc->device)->compiler);
    }
    return settle(run, GYRE_STAGE_COMPILE, start, status);
}

/* What the check found, unless the compiler's own error says it better: see check_wins. */
static gyre_status fail_check(struct run *run)
{
    gyre_error_set(run->check.status, "%s", run->check.sentence);
    tell(run, run->check.stage, GYRE_STAGE_FAILED, "%s", run->check.sentence);
    return gyre_error_add(run->check.status, "%s", gyre_stage_word(run->check.stage));
}

static void tell_check(struct run *run)
{
    const struct gyre_check *check = &run->check;
    run->report.stages[GYRE_STAGE_CHECK].duration_ns = check->duration_ns;
    if (check->verdict == GYRE_CHECK_PASSED)
        tell(run, GYRE_STAGE_CHECK, GYRE_STAGE_DONE, "%u kernel%s, within the dialect", check->kernel_count,
             check->kernel_count == 1 ? "" : "s");
    else if (check->verdict == GYRE_CHECK_UNAVAILABLE)
        tell(run, GYRE_STAGE_CHECK, GYRE_STAGE_SKIPPED, "%.250s", check->sentence);
}

/*
 * A refusal is told before the compiler's error, an error of the parser only when the compiler had none: both
 * read the same text, and the compiler's words fit its own options.
 */
static bool check_wins(const struct run *run, gyre_status compiled)
{
    switch (run->check.verdict) {
    case GYRE_CHECK_REFUSED:
        return true;
    case GYRE_CHECK_UNPARSED:
        return compiled == GYRE_OK;
    case GYRE_CHECK_UNAVAILABLE:
        return run->settings.check == GYRE_CHECK_ON;
    case GYRE_CHECK_PASSED:
        break;
    }
    return false;
}

static void start_check(struct run *run, const char *headers)
{
    run->check = (struct gyre_check){.source = &run->source,
                                     .headers = headers,
                                     .deadline_ns = gyre_clock_ns() + run->settings.compile_timeout_ns,
                                     .stage = GYRE_STAGE_CHECK};
    if (run->settings.check == GYRE_CHECK_OFF)
        tell(run, GYRE_STAGE_CHECK, GYRE_STAGE_SKIPPED, "the setting check is off");
    else
        gyre_check_start(&run->check);
}

static gyre_status make_artifact(struct run *run)
{
    const char *headers = gyre_pipeline_headers();
    if (!headers)
        return gyre_error_set(
            GYRE_UNAVAILABLE,
            "the headers of the kernel dialect (gyre/kernel.h) are not installed in `include` "
            "beside Gyre's library");
    start_check(run, headers);
    gyre_status status = generate(run);
    if (status == GYRE_OK)
        status = compile(run, headers);
    if (run->settings.check == GYRE_CHECK_OFF)
        return status;
    gyre_check_join(&run->check);
    add_messages(run, run->check.messages);
    tell_check(run);
    return check_wins(run, status) ? fail_check(run) : status;
}

static gyre_status load(struct run *run)
{
    uint64_t start = gyre_clock_ns();
    gyre_status status = gyre_build_create(run->desc->device, &run->source, &run->build);
    if (status == GYRE_OK)
        status = gyre_build_load(run->build, run->artifact_path, &run->artifact);
    if (status == GYRE_OK)
        tell(run, GYRE_STAGE_LOAD, GYRE_STAGE_DONE, "%zu kernel%s", run->build->count,
             run->build->count == 1 ? "" : "s");
    return settle(run, GYRE_STAGE_LOAD, start, status);
}

static gyre_status verify(struct run *run)
{
    uint64_t start = gyre_clock_ns();
    char text[128] = "";
    const gyre_kernel_record *named;
    gyre_status status = gyre_build_verify(run->build, text, sizeof text);
    if (status == GYRE_OK && run->source.kernel[0])
        status = gyre_build_kernel(run->build, NULL, &named);
    if (status == GYRE_OK)
        tell(run, GYRE_STAGE_VERIFY, GYRE_STAGE_DONE, "%s", text);
    return settle(run, GYRE_STAGE_VERIFY, start, status);
}

static gyre_status run_stages(struct run *run)
{
    gyre_status status = discover(run);
    if (status == GYRE_OK)
        status = make_artifact(run);
    if (status == GYRE_OK)
        status = load(run);
    return status == GYRE_OK ? verify(run) : status;
}

gyre_status gyre_pipeline_run_desc(const struct gyre_pipeline_desc *desc, struct gyre_build **out)
{
    *out = NULL;
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to compile a kernel");
    run->desc = desc;
    gyre_pipeline_settings_read(desc->config, gyre_dispatch_backend(desc->device), &run->settings);
    gyre_status status = run_stages(run);
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

gyre_status gyre_pipeline_run(const struct gyre_config *config, struct gyre_dispatch *device,
                              const char *source, struct gyre_build **out)
{
    struct gyre_pipeline_desc desc = {.config = config, .device = device, .source = source};
    return gyre_pipeline_run_desc(&desc, out);
}
