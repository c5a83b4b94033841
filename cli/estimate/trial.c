/* SPDX-License-Identifier: Apache-2.0 */
/* Runs and compiles the handler of an estimate (trial.h). */
#include "cli/estimate/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/calls/call_buffers.h"
#include "cli/calls/call_stream.h"
#include "cli/base/hush.h"
#include "cli/json/message_json.h"
#include "cli/open.h"
#include "core/api/tools.h"
#include "core/base/error.h"
#include "core/device/devices.h"
#include "core/pipeline/build.h"
#include "core/plan/build_options.h"
#include "core/types/message.h"
#include "gyre/attach.h"

enum { SETTINGS_MAX = 3, SETTING_SIZE = 4200, LINE_PAYLOAD = 48 };

/* A context with more settings than the user's, which win. */
struct own_context {
    cli_context cli;
    char texts[SETTINGS_MAX][SETTING_SIZE];
};

static bool make_context(struct own_context *own, const cli_context *cli, const char *backend)
{
    own->cli = *cli;
    own->cli.backend = backend;
    own->cli.settings = (cli_list){NULL, 0};
    bool made = true;
    for (size_t i = 0; i < cli->settings.count; i++)
        made = made && cli_list_add(&own->cli.settings, cli->settings.items[i]);
    for (size_t i = 0; i < SETTINGS_MAX; i++)
        made = made && (!own->texts[i][0] || cli_list_add(&own->cli.settings, own->texts[i]));
    return made;
}

/* ---- on the CPU ---- */

struct trial {
    const trial_desc *desc;
    const cli_context *cli;
    estimate_requests *requests;
    trial_result *result;
    gyre_runtime *runtime;
    gyre_kernel *kernel;
    call_buffers buffers;
    message_json_names names;
    void *state;
    uint64_t state_size;
};

static gyre_launch_desc describe(const struct trial *trial)
{
    gyre_launch_desc desc = cli_launch(trial->cli, trial->cli->operands.items[0]);
    desc.lanes = (uint32_t)trial->desc->lanes;
    desc.blocks = 1;
    desc.state = trial->state;
    desc.state_size = trial->state_size;
    desc.bindings = trial->buffers.bindings;
    desc.binding_count = trial->buffers.bound_count;
    return desc;
}

static gyre_status read_state(struct trial *trial)
{
    const gyre_launch_desc desc = describe(trial);
    gyre_layout *layout = NULL;
    gyre_status status = gyre_launch_state_layout(trial->runtime, &desc, &layout);
    if (status == GYRE_OK && layout->size == 0)
        status = gyre_error_set(GYRE_INVALID, "this kernel has no state");
    if (status == GYRE_OK && !(trial->state = calloc(1, layout->size + 1)))
        status = gyre_error_set(GYRE_EXHAUSTED, "out of memory for the state");
    if (status == GYRE_OK)
        status = message_json_read_named(layout, trial->desc->state, strlen(trial->desc->state),
                                         &trial->names, trial->state);
    trial->state_size = status == GYRE_OK ? layout->size : 0;
    gyre_layout_destroy(layout);
    return status == GYRE_OK ? status : gyre_error_add(status, "--state");
}

static int launch(struct trial *trial)
{
    gyre_kernel_info info = {.size = sizeof info};
    gyre_status status = trial->desc->state ? read_state(trial) : GYRE_OK;
    struct cli_hush hush;
    if (status == GYRE_OK) {
        const gyre_launch_desc desc = describe(trial);
        cli_hush_begin(&hush);
        status = gyre_launch(trial->runtime, &desc, &trial->kernel);
        cli_hush_end(&hush);
    }
    if (status == GYRE_OK)
        status = gyre_kernel_info_get(trial->kernel, &info);
    if (status != GYRE_OK)
        return cli_fail_unless_device(trial->runtime, status);
    trial->result->lanes = info.lanes;
    snprintf(trial->result->kernel, sizeof trial->result->kernel, "%s", info.name);
    return CLI_OK;
}

/* How many lines say that a handler emitted, which fails outside of a pipeline, and is no fault of the handler's. */
static uint64_t count_emitting(const char *lines)
{
    static const char words[] = "enters no pipeline";
    uint64_t count = 0;
    for (const char *at = lines; (at = strstr(at, words)); at += sizeof words)
        count++;
    return count;
}

/* What a ring moves of one message; 0: the text is none. */
static uint64_t length_of(const gyre_layout *layout, const message_json_names *names, const char *text,
                          size_t length, void *message)
{
    if (message_json_read_named(layout, text, length, names, message) != GYRE_OK)
        return 0;
    return gyre_layout_length(layout, message);
}

/*
 * The bytes that messages have on average, of a type whose messages have different lengths; the largest ones where none is known.
 * A type that is too large for the lines of a ring keeps out of them, however short its messages are.
 */
static uint64_t mean_of(uint64_t bytes, uint64_t count, const gyre_layout *layout)
{
    const uint64_t mean = count ? (bytes + count / 2) / count : layout->size;
    return layout->size > LINE_PAYLOAD && mean <= LINE_PAYLOAD ? LINE_PAYLOAD + 1 : mean;
}

/* Sets the sizes of the result. `lines`: the replies, one a line, as JSON; NULL: none. */
static void measure(const struct trial *trial, const gyre_layout *request, const gyre_layout *reply,
                    const char *lines)
{
    uint64_t bytes[2] = {0, 0}, counts[2] = {0, 0};
    void *const message = calloc(1, (request->size > reply->size ? request->size : reply->size) + 1);
    for (size_t i = 0; message && request->has_parts && i < trial->requests->count; i++) {
        const char *const text = trial->requests->texts[i];
        const uint64_t length = length_of(request, &trial->names, text, strlen(text), message);
        bytes[0] += length;
        counts[0] += length > 0;
    }
    while (message && reply->has_parts && lines && *lines) {
        const size_t size = strcspn(lines, "\n");
        const uint64_t length = length_of(reply, NULL, lines, size, message);
        bytes[1] += length;
        counts[1] += length > 0;
        lines += size + (lines[size] == '\n');
    }
    free(message);
    trial->result->request_size = mean_of(bytes[0], counts[0], request);
    trial->result->reply_size = mean_of(bytes[1], counts[1], reply);
}

static int send_all(const struct trial *trial, const gyre_layout *request, const gyre_layout *reply)
{
    request_source source;
    call_counts counts;
    char *lines = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&lines, &size);
    if (!out)
        return cli_error(CLI_FAILED, "out of memory");
    request_source_init_texts(&source, (const char *const *)trial->requests->texts, trial->requests->count);
    const gyre_status status = call_stream_run(&(call_stream_desc){.queue = gyre_kernel_queue(trial->kernel),
                                                                   .whom = "the kernel",
                                                                   .request = request,
                                                                   .reply = reply,
                                                                   .names = &trial->names,
                                                                   .source = &source,
                                                                   .timeout_ms = trial->desc->timeout_ms,
                                                                   .out = out},
                                               &counts);
    request_source_finish(&source);
    fclose(out);
    trial->result->emitted = lines ? count_emitting(lines) : 0;
    if (status == GYRE_OK)
        measure(trial, request, reply, lines);
    free(lines);
    trial->result->answered = counts.answered + counts.without_reply + counts.failed;
    trial->result->failed = counts.failed - trial->result->emitted;
    if (status == GYRE_OK && counts.refused)
        return cli_error(
            CLI_FAILED,
            "%llu of %zu requests are no messages of the kernel: gyre call says what is wrong with each",
            (unsigned long long)counts.refused, trial->requests->count);
    return cli_fail_unless_ok(status);
}

static int call_handler(struct trial *trial)
{
    gyre_layout *request = NULL, *reply = NULL;
    const gyre_type *request_type, *reply_type;
    gyre_queue_types(gyre_kernel_queue(trial->kernel), &request_type, &reply_type);
    gyre_status status = gyre_layout_create(request_type, GYRE_MESSAGE_MAX, &request);
    if (status == GYRE_OK)
        status = gyre_layout_create(reply_type, GYRE_MESSAGE_MAX, &reply);
    int code = cli_fail_unless_ok(status);
    if (code == CLI_OK && !trial->requests->count)
        code = requests_make(trial->requests, request, trial->desc->count);
    if (code == CLI_OK)
        code = send_all(trial, request, reply);
    gyre_layout_destroy(request);
    gyre_layout_destroy(reply);
    return code;
}

static int run_opened(struct trial *trial)
{
    const cli_list none = {NULL, 0};
    const input_wait wait = {trial->desc->timeout_ms, "--timeout"};
    trial->names = (message_json_names){call_buffers_resolve, &trial->buffers};
    int code = call_buffers_name(&trial->buffers, trial->cli, &trial->desc->buffers, &none);
    if (code == CLI_OK)
        code = call_buffers_load(&trial->buffers, trial->cli, trial->runtime, 0, &wait, &trial->desc->buffers,
                                 &none);
    if (code == CLI_OK)
        code = launch(trial);
    return code == CLI_OK ? call_handler(trial) : code;
}

int trial_run(const trial_desc *desc, estimate_requests *requests, trial_result *result)
{
    struct own_context *const own = calloc(1, sizeof *own);
    struct trial trial = {.desc = desc, .requests = requests, .result = result};
    *result = (trial_result){.lanes = 0};
    if (!own)
        return cli_error(CLI_FAILED, "out of memory");
    snprintf(own->texts[0], SETTING_SIZE, "backend.cpu.check=traffic");
    snprintf(own->texts[1], SETTING_SIZE, "backend.cpu.traffic_file=%s", desc->counts_path);
    snprintf(own->texts[2], SETTING_SIZE, "backend.cpu.isolation=none");
    int code = make_context(own, desc->cli, "cpu") ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
    trial.cli = &own->cli;
    if (code == CLI_OK)
        code = cli_fail_unless_ok(cli_open(&own->cli, &trial.runtime));
    if (code == CLI_OK)
        code = run_opened(&trial);
    gyre_close(trial.runtime); /* writes the counts */
    call_buffers_finish(&trial.buffers);
    cli_list_finish(&own->cli.settings);
    free(trial.state);
    free(own);
    return code;
}

/* ---- for the GPU ---- */

static gyre_status build(gyre_runtime *runtime, const char *source, struct gyre_dispatch *device,
                         const char *kernel, trial_code *code)
{
    struct gyre_build_report *const report = calloc(1, sizeof *report);
    struct gyre_build *made = NULL;
    const gyre_kernel_record *record = NULL;
    char options[GYRE_KERNEL_OPTIONS_SIZE];
    gyre_kernel_options(gyre_runtime_config(runtime), kernel, options, sizeof options);
    const struct gyre_build_desc desc = {.config = gyre_runtime_config(runtime),
                                         .device = device,
                                         .source = source,
                                         .options = options,
                                         .configured = kernel,
                                         .report = report};
    gyre_status status =
        report ? gyre_build_run(&desc, &made) : gyre_error_set(GYRE_EXHAUSTED, "out of memory");
    if (status == GYRE_OK)
        status = gyre_build_kernel(made, kernel, &record);
    if (status == GYRE_OK) {
        code->known = true;
        code->registers = record->registers;
        code->spill_bytes = record->spill_bytes;
        code->shared_bytes = record->shared_bytes;
        code->blocks_per_unit = record->blocks_per_unit;
    }
    gyre_build_release(made);
    free(report);
    return status;
}

void trial_compile(const cli_context *cli, const char *architecture, const char *kernel, trial_code *code)
{
    struct own_context *const own = calloc(1, sizeof *own);
    gyre_runtime *runtime = NULL;
    struct gyre_dispatch *device;
    struct cli_hush hush;
    *code = (trial_code){.known = false};
    if (own)
        snprintf(own->texts[0], SETTING_SIZE, "backend.cuda.compile_for=%s", architecture);
    gyre_status status =
        own && make_context(own, cli, "cuda") ? GYRE_OK : gyre_error_set(GYRE_EXHAUSTED, "out of memory");
    cli_hush_begin(&hush);
    if (status == GYRE_OK)
        status = cli_open(&own->cli, &runtime);
    if (status == GYRE_OK)
        status = gyre_kernel_device(runtime, kernel, "cuda", 0, &device);
    if (status == GYRE_OK)
        status = build(runtime, cli->operands.items[0], device, kernel, code);
    cli_hush_end(&hush);
    if (status != GYRE_OK)
        snprintf(code->why, sizeof code->why, "%s", gyre_error_text());
    gyre_close(runtime);
    if (own)
        cli_list_finish(&own->cli.settings);
    free(own);
}
