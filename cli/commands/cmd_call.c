/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyre call: launches a kernel, or opens a pipeline, streams requests from the arguments or stdin through it, prints the replies.
 * One thread. Everything that it opens belongs to the runtime, which it closes in the end.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/calls/call_attach.h"
#include "cli/calls/call_buffers.h"
#include "cli/calls/call_ends.h"
#include "cli/calls/call_letters.h"
#include "cli/calls/call_pipeline.h"
#include "cli/calls/call_report.h"
#include "cli/calls/call_seeds.h"
#include "cli/calls/call_state.h"
#include "cli/calls/call_stream.h"
#include "cli/cases/case_gather.h"
#include "cli/cases/case_run.h"
#include "cli/cli.h"
#include "cli/base/hush.h"
#include "cli/json/message_json.h"
#include "cli/open.h"
#include "core/base/error.h"
#include "core/api/tools.h"
#include "gyre/attach.h"
#include "gyre/pipeline.h"

enum { TIMEOUT_DEFAULT_MS = 10000, WHOM_SIZE = 160, CHECK_SETTING_SIZE = 128 };

static const char HELP[] =
    "usage: gyre call FILE.gyre.c[:KERNEL] [OPTION...] [REQUEST...]\n"
    "       gyre call --pipeline NAME[/ENTRY] [OPTION...] [REQUEST...]\n"
    "       gyre call --attach NAME [OPTION...] [REQUEST...]\n"
    "       gyre call --case FILE [OPTION...]\n"
    "\n"
    "Launches a kernel, sends it requests, prints the replies in the order of the requests. A request is a JSON\n"
    "object with every field of the kernel's request message; without REQUEST arguments they are read from\n"
    "standard input, one a line. Replies are printed as they come, a line of JSON each:\n"
    "\n"
    "  the reply message                          the handler replied\n"
    "  {\"no_reply\":true}                          the handler did not reply\n"
    "  {\"failed\":{\"code\":CODE,\"text\":\"TEXT\"}}     the handler failed the request\n"
    "  {\"unhandled\":true}                         its kernel was lost first, or stopped\n"
    "  {\"unanswered\":true}                        no answer to it came within --timeout\n"
    "  {\"malformed\":\"SENTENCE\"}                  the handler wrote a reply that is none\n"
    "  {\"refused\":\"SENTENCE\"}                     this was no request; it was not sent\n"
    "\n"
    "Once sending fails no more is sent, and all that was sent has its line. What an earlier run left in the\n"
    "queue's journal is printed first, as {\"recovered\":LINE}, and counted apart.\n"
    "\n"
    "Instead of a file, the NAME of a kernel will do when [kernel.NAME] of the configuration has its source.\n"
    "With --pipeline the kernels of [pipeline.NAME] are launched and linked; ENTRY, or the first one, gets the requests.\n"
    "With --attach a server gets them. One that is not up yet, or that ends, is waited for as long as --timeout\n"
    "says; what was unanswered is sent again to the next one, and perhaps handled twice.\n"
    "The last line on standard error counts them. Exit code 1 if any failed or was refused.\n"
    "What handlers log with gyre_log is on standard error with --set gyre.log_level=info.\n"
    "\n"
    "Options:\n"
    "  --lanes N, --blocks N    lanes of a block, and blocks; as configured\n"
    "  --device N               which device of the backend; 0\n"
    "  --buffer NAME=FILE       bind a device buffer that holds the raw bytes of FILE; zeros:N: N zero bytes\n"
    "  --message-buffer NAME=FILE or NAME=zeros:N\n"
    "                           the same for requests to name, not bound: \"NAME\" in a field of type gyre_handle,\n"
    "                           or {\"buffer\":\"NAME\",\"offset\":BYTES,\"size\":BYTES}; bound ones have names, too\n"
    "  --output-buffer NAME=FILE  write it to FILE after the last reply\n"
    "  --state JSON, @FILE      the kernel's initial state; default: zero. Not beside a journal that has one\n"
    "  --dead-letters           print after the replies the messages that nobody handled, with the reason,\n"
    "                           a line each: "
    "{\"dead\":{\"index\":I,\"code\":C,\"reason\":\"TEXT\",\"request\":...}}\n"
    "  --check LIST [--seed N] [--seeds N]  find mistakes (docs/simulator.md); crash: 10 seeds\n"
    "  --case FILE [--orders N] kernel, requests and expected answers of a case file: docs/testing.md\n"
    "  --save FILE              with --check: write a case file when something is found\n"
    "  --pipeline NAME[/ENTRY]  a pipeline\n"
    "  --attach NAME            KERNEL[/QUEUE] or PIPELINE[/ENTRY] of a server\n"
    "  --socket PATH            where it is; gyre.socket, else $XDG_RUNTIME_DIR/gyre.sock\n"
    "  --timeout MS             longest wait for a reply, a server, a FILE that is a pipe; 10000; 0: no limit\n"
    "  --trace TRACEPARENT      of W3C, for all requests (header = trace)\n"
    "  and the options of every command: gyre help\n"
    "\n"
    "Numbers: integers are exact up to 64 bits; i64 and u64 may also be given as strings of digits. NaN and the\n"
    "infinities are the strings \"NaN\", \"Infinity\", \"-Infinity\". An array of u8 may be given as a string.\n"
    "Texts are strings, spans are arrays; an optional field is left out, or null, where it is absent.\n"
    "A kernel with handlers for several types takes {\"type\":\"NAME\", ...}. Where the queue has a wire form\n"
    "(--set queue.KERNEL.wire=memorypack) requests and replies are hexadecimal digits.\n"
    "\n"
    "Examples, in a checkout:\n"
    "  gyre call examples/command/scale.gyre.c '{\"value\":20.5,\"factor\":2}'\n"
    "  seq 1 5 | sed 's/.*/{\"add\":&}/' | gyre call examples/command/total.gyre.c \\\n"
    "      --state '{\"sum\":100,\"count\":0}'\n";

typedef struct call_run {
    cli_context *cli;
    uint64_t lanes, blocks, device, timeout_ms;
    input_wait pipes;
    bool letters;
    const char *state, *attach; /* attach: a server's kernel, instead of one that is launched; or NULL */
    const char *pipeline;       /* a pipeline, instead of a kernel; or NULL */
    const char *trace;          /* a traceparent; or NULL */
    const char *socket;         /* of the server; NULL: as configured */
    const char *checks;         /* of --check; NULL: as configured */
    uint64_t seed, seeds;       /* of --check schedule; 0: as configured */
    char check_settings[3][CHECK_SETTING_SIZE]; /* what these options mean */
    cli_list own_settings;                      /* those of --set alone */
    const char *save;      /* where a case file is written when something is found; NULL: nowhere */
    const char *case_path; /* a case file, instead of a kernel and requests; or NULL */
    uint64_t orders,
        order; /* of a case: how many other orders are tried; the one that runs now, 0: the file's */
    case_answers answers; /* of the run in the file's order */
    bool is_whole;        /* all requests are run with each seed, and the answers compared */
    call_seeds runs;      /* then: the seeds */
    case_file played;     /* what is in it */
    cli_list buffer_specs, named_specs, output_specs;
    gyre_runtime *runtime;
    gyre_kernel *kernel; /* NULL when attached; of a pipeline, the one that gets the requests */
    gyre_queue *queue;
    call_buffers buffers;
    message_json_names names;
    void *state_bytes;
    uint64_t state_size;
} call_run;

/* ---- launching ---------------------------------------------------------------------------------------- */

static gyre_launch_desc describe_launch(const call_run *call)
{
    gyre_launch_desc desc = cli_launch(call->cli, call->cli->operands.items[0]);
    desc.device = (uint32_t)call->device;
    desc.lanes = (uint32_t)call->lanes;
    desc.blocks = (uint32_t)call->blocks;
    desc.state = call->state_bytes;
    desc.state_size = call->state_size;
    desc.bindings = call->buffers.bindings;
    desc.binding_count = call->buffers.bound_count;
    desc.start_inactive = call->case_path != NULL; /* case_run begins when the requests are there */
    return desc;
}

static gyre_status launch_kernel(call_run *call)
{
    const gyre_launch_desc desc = describe_launch(call);
    struct cli_hush hush;
    cli_hush_begin(&hush);
    const gyre_status status = gyre_launch(call->runtime, &desc, &call->kernel);
    cli_hush_end(&hush);
    if (status == GYRE_OK)
        cli_warn_of_others(call->cli, call->runtime, call->kernel);
    return status;
}

/* The exit code for the status of a launch. Prints why a launch failed. */
static int tell_status(const call_run *call, gyre_status status)
{
    return cli_fail_unless_device(call->runtime, status);
}

static gyre_status state_read(call_run *call, const gyre_layout *layout, const char *text, size_t length)
{
    gyre_status status;
    call->state_bytes = malloc(layout->size + 1);
    if (layout->size == 0)
        status = gyre_error_set(GYRE_INVALID, "this kernel has no state");
    else if (!call->state_bytes)
        status = gyre_error_set(GYRE_EXHAUSTED, "out of memory for the state");
    else
        status = message_json_read_named(layout, text, length, &call->names, call->state_bytes);
    call->state_size = layout->size;
    return status == GYRE_OK ? status : gyre_error_add(status, "--state");
}

/* Refuses --state for a kernel that was restored: its state is what the journal says. */
static int refuse_restored(const call_run *call)
{
    const char *journal = gyre_kernel_restored_from(call->kernel);
    if (!journal)
        return CLI_OK;
    return cli_error(
        CLI_FAILED,
        "--state: the journal '%s' has a state, with which the kernel goes on: leave --state out, "
        "or move the journal away to begin anew",
        journal);
}

/* Launches the kernel with the state of --state. The type of the state is known only after the file was compiled. The kernel is
 * launched only once, because a launch begins a journal. */
static int launch_with_state(call_run *call)
{
    size_t length;
    char *text;
    gyre_layout *layout = NULL;
    int code = call_state_text(call->state, &call->pipes, &text, &length);
    if (code == CLI_OK) {
        const gyre_launch_desc desc = describe_launch(call);
        gyre_status status = gyre_launch_state_layout(call->runtime, &desc, &layout);
        if (status == GYRE_OK)
            status = state_read(call, layout, text, length);
        if (status == GYRE_OK)
            status = launch_kernel(call);
        code = tell_status(call, status);
    }
    gyre_layout_destroy(layout);
    free(text);
    return code == CLI_OK ? refuse_restored(call) : code;
}

/* ---- streaming ---------------------------------------------------------------------------------------- */

/* Prints the dead letters of the queue, also after a stream that failed, because letters tell why requests failed. */
static gyre_status print_letters(const call_run *call, const gyre_layout *request, gyre_status stream_status,
                                 size_t *dead)
{
    gyre_status status = call_letters_print(call->queue, request, stdout, dead);
    if (status != GYRE_OK)
        cli_fail(status);
    return stream_status == GYRE_OK ? status : stream_status;
}

/* Writes what gets the requests. Returns `text`. */
static const char *whom_of(const call_run *call, char text[WHOM_SIZE])
{
    gyre_kernel_info info = {.size = sizeof info};
    if (call->pipeline)
        snprintf(text, WHOM_SIZE, "pipeline %s", call->pipeline);
    else if (call->kernel && gyre_kernel_info_get(call->kernel, &info) == GYRE_OK)
        snprintf(text, WHOM_SIZE, "%s on %s", info.name, info.backend);
    else
        snprintf(text, WHOM_SIZE, "%s of the server", call->attach);
    return text;
}

/* Calls `tell` for each kernel that was launched: one, or those of a pipeline. */
static void tell_kernels(const call_run *call, void (*tell)(gyre_kernel *kernel))
{
    const size_t count = gyre_kernels(call->runtime, NULL, 0);
    gyre_kernel **kernels = calloc(count + 1, sizeof(gyre_kernel *));
    for (size_t i = 0; kernels && i < gyre_kernels(call->runtime, kernels, count) && i < count; i++)
        tell(kernels[i]);
    free(kernels);
}

static gyre_status stream_requests(call_run *call, gyre_layout *request, gyre_layout *reply, FILE *kept,
                                   call_counts *counts)
{
    request_source source;
    char whom[WHOM_SIZE];
    const cli_list *operands = &call->cli->operands;
    size_t first = call->attach || call->pipeline ? 0 : 1; /* the first operand is what to launch */
    if (operands->count > first)
        request_source_init_texts(&source, operands->items + first, operands->count - first);
    else
        request_source_init_lines(&source, STDIN_FILENO);
    if (!source.texts && isatty(STDIN_FILENO))
        call_report_typing(request);
    gyre_status status =
        call_stream_run(&(call_stream_desc){.queue = call->queue,
                                            .whom = call->pipeline ? "the pipeline" : "the kernel",
                                            .request = request,
                                            .reply = reply,
                                            .names = &call->names,
                                            .source = &source,
                                            .timeout_ms = call->timeout_ms,
                                            .told_ms = call->attach ? CALL_ATTACH_TOLD_MS : 0,
                                            .traceparent = call->trace,
                                            .out = stdout,
                                            .kept = kept},
                        counts);
    request_source_finish(&source);
    size_t dead = 0;
    if (status != GYRE_OK)
        cli_fail(status);
    if (status == GYRE_TIMEOUT)
        tell_kernels(call, call_report_working);
    if (call->letters)
        status = print_letters(call, request, status, &dead);
    call_report_counts(whom_of(call, whom), counts);
    if (dead)
        fprintf(stderr, "gyre: %zu dead letters\n", dead);
    call_report_timing(call->queue);
    tell_kernels(call, call_report_absences);
    return status;
}

/* Writes the case file of --save, when something was found. `pairs`: the requests until then. */
static int save_case(const call_run *call, const char *finding, const char *pairs, size_t length)
{
    if (!finding[0]) {
        fprintf(stderr, "gyre: nothing was found: '%s' is not written\n", call->save);
        return CLI_OK;
    }
    const int code =
        case_file_write(&(case_write_desc){.path = call->save,
                                           .kernel = call->pipeline ? NULL : call->cli->operands.items[0],
                                           .pipeline = call->pipeline,
                                           .check = call->checks,
                                           .state = call->state,
                                           .config = call->cli->config_path,
                                           .finding = finding,
                                           .lanes = call->lanes,
                                           .blocks = call->blocks,
                                           .device = call->device,
                                           .seed = call->seed,
                                           .seeds = call->seeds,
                                           .settings = &call->own_settings,
                                           .buffers = &call->buffer_specs,
                                           .named_buffers = &call->named_specs,
                                           .pairs = pairs,
                                           .length = length});
    if (code == CLI_OK)
        fprintf(stderr, "gyre: '%s' has what was found; gyre shrink makes it small\n", call->save);
    return code;
}

static int stream_calls(call_run *call)
{
    char *pairs = NULL;
    size_t length = 0;
    FILE *kept = call->save ? open_memstream(&pairs, &length) : NULL;
    gyre_layout *request = NULL, *reply = NULL;
    const gyre_type *request_type, *reply_type;
    call_counts counts = {0};
    gyre_queue_types(call->queue, &request_type, &reply_type);
    gyre_status status = gyre_layout_create(request_type, GYRE_MESSAGE_MAX, &request);
    if (status == GYRE_OK)
        status = gyre_layout_create(reply_type, GYRE_MESSAGE_MAX, &reply);
    int code = status == GYRE_OK ? cli_exit_code(stream_requests(call, request, reply, kept, &counts))
                                 : cli_fail(status);
    if (kept && fclose(kept) == 0) {
        const int saved = save_case(call, counts.finding, pairs, length);
        code = code == CLI_OK ? saved : code;
    }
    free(pairs);
    gyre_layout_destroy(request);
    gyre_layout_destroy(reply);
    return code == CLI_OK && counts.failed + counts.refused + counts.lost ? CLI_FAILED : code;
}

/* Writes buffers to files. Stops the kernel first, so that no handler writes a buffer meanwhile. */
static int save_outputs(call_run *call)
{
    if (call->output_specs.count == 0)
        return CLI_OK;
    int code = cli_fail_unless_ok(gyre_kernel_terminate(call->kernel, GYRE_NO_WAIT, NULL));
    return code == CLI_OK ? call_buffers_save(&call->buffers, &call->output_specs) : code;
}

/* Refuses a kernel that is configured inactive before a request is sent, because every request would stay unanswered. */
static int refuse_inactive(const gyre_kernel *kernel)
{
    gyre_kernel_info info = {.size = sizeof info};
    int code = cli_fail_unless_ok(gyre_kernel_info_get(kernel, &info));
    if (code != CLI_OK || info.state != GYRE_KERNEL_INACTIVE)
        return code;
    return cli_error(
        CLI_CONFIG,
        "kernel '%s' is configured inactive (kernel.%s.active = false) and would answer nothing; "
        "add --set kernel.%s.active=true, or change the configuration",
        info.name, info.name, info.name);
}

static int play_case(call_run *call)
{
    if (call->runs.has_crashes && !call_crash_look(&call->runs.crash, call->kernel))
        return CLI_OK; /* call_seeds_run runs it anew */
    return case_run(&(case_run_desc){
        .file = &call->played,
        .kernel = call->kernel,
        .queue = call->queue,
        .names = &call->names,
        .timeout_ms = call->timeout_ms,
        .out = stdout,
        .order = call->order,
        .seed = call->is_whole && call->runs.seed != call->runs.first ? call->runs.seed : 0,
        .checkpoint = call->runs.crash.checkpoint,
        .in_rounds = call->is_whole || call->pipeline,
        .findings_only = call->is_whole && !call_seeds_are_compared(call->checks, call->pipeline),
        .answers = &call->answers});
}

static int run_opened(call_run *call)
{
    call_ends_watch("");
    call->pipes = (input_wait){call->timeout_ms, "--timeout"};
    call->names = (message_json_names){call_buffers_resolve, &call->buffers};
    int code = call_buffers_name(&call->buffers, call->cli, &call->buffer_specs, &call->named_specs);
    if (code == CLI_OK)
        code = call_buffers_check_outputs(&call->buffers, call->cli, &call->output_specs);
    if (code == CLI_OK)
        code = call_buffers_load(&call->buffers, call->cli, call->runtime, (uint32_t)call->device,
                                 &call->pipes, &call->buffer_specs, &call->named_specs);
    if (code == CLI_OK)
        code = call->state ? launch_with_state(call) : tell_status(call, launch_kernel(call));
    if (code == CLI_OK && !call->case_path)
        code = refuse_inactive(call->kernel);
    if (code != CLI_OK)
        return code;
    call->queue = gyre_kernel_queue(call->kernel);
    code = call->case_path ? play_case(call) : stream_calls(call);
    int saved = call->order ? CLI_OK : save_outputs(call);
    /* a handler that did not reply in time may never return: gyre_close gives it its stop_timeout_ms, once */
    if (code != CLI_TIMEOUT && gyre_kernel_terminate(call->kernel, GYRE_NO_WAIT, NULL) == GYRE_OK)
        call_report_stays(call->kernel);
    return code == CLI_OK ? saved : code;
}

/* Refuses options of the launch of one kernel. `why`: what is so instead. */
static int refuse_launch_options(const call_run *call, const char *why)
{
    const char *given = call->lanes                ? "--lanes"
                        : call->blocks             ? "--blocks"
                        : call->device             ? "--device"
                        : call->state              ? "--state"
                        : call->buffer_specs.count ? "--buffer"
                        : call->named_specs.count  ? "--message-buffer"
                        : call->output_specs.count ? "--output-buffer"
                                                   : NULL;
    return given ? cli_usage_error(call->cli, "%s is for a kernel that is launched; %s", given, why) : CLI_OK;
}

/* Refuses a kernel's file in the place of a request: `gyre call FILE` takes one there. `option`: the option that takes none. */
static int refuse_file(const call_run *call, const char *option)
{
    const char *first = call->cli->operands.count ? call->cli->operands.items[0] : "";
    return access(first, F_OK) == 0
               ? cli_usage_error(call->cli,
                                 "'%s' is a file: %s launches none, and takes nothing but requests", first,
                                 option)
               : CLI_OK;
}

/* ---- pipelines ---------------------------------------------------------------------------------------- */

static int refuse_inactive_kernels(const call_run *call)
{
    const size_t count = gyre_kernels(call->runtime, NULL, 0);
    gyre_kernel **kernels = calloc(count + 1, sizeof(gyre_kernel *));
    int code = kernels ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
    const size_t there = kernels ? gyre_kernels(call->runtime, kernels, count) : 0;
    for (size_t i = 0; i < there && i < count && code == CLI_OK; i++)
        code = refuse_inactive(kernels[i]);
    free(kernels);
    return code;
}

static int play_pipeline(call_run *call)
{
    /* it begins when the requests are there */
    const int code = cli_fail_unless_ok(
        gyre_kernel_deactivate(call->kernel, call->timeout_ms ? gyre_in_ms(call->timeout_ms) : GYRE_FOREVER));
    return code == CLI_OK ? play_case(call) : code;
}

static int run_pipeline(call_run *call)
{
    call_pipeline opened;
    int code = refuse_launch_options(call, "[kernel.NAME] configures those of a pipeline");
    if (code == CLI_OK)
        code = refuse_file(call, "--pipeline");
    if (code == CLI_OK)
        code = cli_fail_unless_ok(cli_open(call->cli, &call->runtime));
    if (code != CLI_OK)
        return code;
    call_ends_watch("");
    struct cli_hush hush;
    cli_hush_begin(&hush);
    const gyre_status status = call_pipeline_open(call->runtime, call->pipeline, &opened);
    cli_hush_end(&hush);
    call->queue = opened.queue;
    call->kernel = opened.entry;
    code = tell_status(call, status);
    if (code == CLI_OK)
        code = refuse_inactive_kernels(call);
    if (code != CLI_OK)
        return code;
    code = call->case_path ? play_pipeline(call) : stream_calls(call);
    /* a handler that did not reply in time may never return: gyre_close gives it its stop_timeout_ms, once */
    if (code != CLI_TIMEOUT)
        gyre_pipeline_close(opened.pipeline, GYRE_NO_WAIT);
    return code;
}

/* ---- servers ------------------------------------------------------------------------------------------ */

static int run_attached(call_run *call)
{
    const char *place = NULL;
    int code = refuse_launch_options(call, "--attach uses one that runs");
    if (code == CLI_OK)
        code = refuse_file(call, "--attach");
    if (code != CLI_OK)
        return code;
    code = cli_fail_unless_ok(cli_open(call->cli, &call->runtime)); /* for its configuration alone */
    if (code != CLI_OK)
        return code;
    place = call->socket;
    if (!place)
        place = gyre_config_text(gyre_runtime_config(call->runtime), GYRE_SECTION_GYRE, NULL, "socket");
    code = cli_fail_unless_ok(call_attach(call->attach, place, call->timeout_ms, &call->queue));
    if (code == CLI_OK)
        code = stream_calls(call);
    gyre_queue_close(call->queue);
    return code;
}

static bool add_all(cli_list *list, const cli_list *added)
{
    bool whole = true;
    for (size_t i = 0; i < added->count && whole; i++)
        whole = cli_list_add(list, added->items[i]);
    return whole;
}

/* Refuses --save where no case file can say what ran. */
static int check_save(const call_run *call)
{
    if (!call->save)
        return CLI_OK;
    if (!call->checks ||
        (call->pipeline && !call_seeds_are_whole(call->checks, call->pipeline, call->seeds)) ||
        call->case_path)
        return cli_usage_error(
            call->cli, "--save is for a kernel that runs with --check%s",
            call->case_path ? "; --case has a file already"
            : call->pipeline
                ? ", and for a pipeline with --check schedule, order, crash, or another one with --seeds"
                : "");
    return case_file_spare(call->save);
}

/* Turns --check, --seed and --seeds into settings, and names the backend that has them. */
static int set_checks(call_run *call)
{
    cli_context *const cli = call->cli;
    char(*const settings)[CHECK_SETTING_SIZE] = call->check_settings;
    const int code = check_save(call);
    if (code != CLI_OK)
        return code;
    if (!call->checks)
        return call->seed || call->seeds
                   ? cli_usage_error(
                         cli,
                         "--seed and --seeds are for --check races, memory, deadlock, schedule, order or "
                         "crash, and no --check is there")
                   : CLI_OK;
    if (call->attach)
        return cli_usage_error(cli, "--check is for handlers that run here; a server has its own settings");
    if (cli->backend && strcmp(cli->backend, "cpu") != 0)
        return cli_usage_error(cli, "--check runs handlers on the backend cpu, and --backend names '%s'",
                               cli->backend);
    cli->backend = "cpu";
    if (!add_all(&call->own_settings, &cli->settings))
        return cli_error(CLI_FAILED, "out of memory");
    const int length = snprintf(settings[0], sizeof settings[0], "backend.cpu.check=%s", call->checks);
    if (length < 0 || (size_t)length >= sizeof settings[0])
        return cli_usage_error(cli, "--check: expected words such as races,memory, found '%s'", call->checks);
    if (!call->case_path && (call->seed || call->seeds) && !call_seeds_decide(call->checks))
        return cli_usage_error(
            cli,
            "--seed and --seeds are for --check races, memory, deadlock, schedule, order or "
            "crash, and --check is '%s', for which a seed decides nothing",
            call->checks);
    call->is_whole = call_seeds_are_whole(call->checks, call->pipeline, call->seeds);
    call_seeds_init(&call->runs, call->checks, call->seed, call->seeds);
    if (call->seed && !call->is_whole)
        snprintf(settings[1], sizeof settings[1], "backend.cpu.seed=%llu", (unsigned long long)call->seed);
    if (call->seeds && !call->is_whole)
        snprintf(settings[2], sizeof settings[2], "backend.cpu.seeds=%llu", (unsigned long long)call->seeds);
    for (size_t i = 0; i < sizeof call->check_settings / sizeof *settings; i++)
        if (settings[i][0] && !cli_list_add(&cli->settings, settings[i]))
            return cli_error(CLI_FAILED, "out of memory");
    return CLI_OK;
}

/* ---- cases -------------------------------------------------------------------------------------------- */

/* Puts the settings of a case in front of those of the command line, which win. */
static bool set_first(cli_list *settings, const cli_list *first)
{
    cli_list all = {0};
    const bool whole = add_all(&all, first) && add_all(&all, settings);
    cli_list_finish(settings);
    *settings = all;
    return whole;
}

/* Takes from a case what options did not say. Checks are for the backend cpu; elsewhere the case runs without. */
static int take_case(call_run *call)
{
    const case_file *const played = &call->played;
    cli_context *const cli = call->cli;
    const bool is_checked = !cli->backend || strcmp(cli->backend, "cpu") == 0;
    int code = case_file_read(&call->played, call->case_path);
    if (code != CLI_OK)
        return code;
    call->lanes = call->lanes ? call->lanes : played->lanes;
    call->blocks = call->blocks ? call->blocks : played->blocks;
    call->device = call->device ? call->device : played->device;
    call->orders = call->orders ? call->orders : played->orders;
    call->timeout_ms =
        call->timeout_ms == TIMEOUT_DEFAULT_MS && played->timeout_ms ? played->timeout_ms : call->timeout_ms;
    call->state = call->state ? call->state : played->state;
    cli->config_path = cli->config_path ? cli->config_path : played->config;
    if (is_checked && !call->checks)
        call->checks = played->check;
    call->seed = !call->checks ? 0 : call->seed ? call->seed : played->seed;
    call->seeds = !call->checks ? 0 : call->seeds ? call->seeds : played->seeds;
    call->pipeline = played->pipeline;
    const bool whole = (call->pipeline || cli_list_add(&cli->operands, played->kernel)) &&
                       set_first(&cli->settings, &played->settings) &&
                       add_all(&call->buffer_specs, &played->buffers) &&
                       add_all(&call->named_specs, &played->named_buffers);
    return whole ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
}

/* Refuses what does not go with --case. */
static int refuse_beside_case(const call_run *call)
{
    const char *other = call->attach     ? "--attach"
                        : call->pipeline ? "--pipeline"
                        : call->letters  ? "--dead-letters"
                                         : NULL;
    if (other)
        return cli_usage_error(call->cli, "--case and %s exclude each other", other);
    if (call->cli->operands.count)
        return cli_usage_error(call->cli,
                               "--case: the file names the kernel and its requests; '%.100s' is one more",
                               call->cli->operands.items[0]);
    return CLI_OK;
}

/* Says that a finding may be gone, or at another line, because the handler's file is another one now. */
static void note_changed(const case_file *file)
{
    char hash[17];
    if (file->hash && file->kernel && case_hash(file->kernel, hash) && strcmp(hash, file->hash) != 0)
        fprintf(stderr, "gyre: note: '%s' has changed since '%s' was written\n", file->kernel, file->path);
}

static int prepare_case(call_run *call)
{
    if (!call->case_path)
        return call->orders ? cli_usage_error(call->cli, "--orders is for --case, which is not there")
                            : CLI_OK;
    const int code = refuse_beside_case(call);
    const int taken = code == CLI_OK ? take_case(call) : code;
    if (taken == CLI_OK)
        note_changed(&call->played);
    return taken;
}

/* ---- all of it --------------------------------------------------------------------------------------- */

/* Closes what a run opened, so that another one begins with the same state and buffers. */
static void close_run(call_run *call)
{
    gyre_close(call->runtime);
    call_ends_forget();
    call_buffers_finish(&call->buffers);
    free(call->state_bytes);
    call->runtime = NULL;
    call->kernel = NULL;
    call->queue = NULL;
    call->buffers = (call_buffers){0};
    call->state_bytes = NULL;
}

static int run_once(call_run *call)
{
    const int code = cli_fail_unless_ok(cli_open(call->cli, &call->runtime));
    return code == CLI_OK ? run_opened(call) : code;
}

/* Messages of an actor have an order, and so have those of one key. */
static bool has_order(const gyre_kernel *kernel)
{
    return gyre_kernel_form(kernel) == GYRE_FORM_ACTOR || gyre_kernel_form(kernel) == GYRE_FORM_KEYED;
}

/* Runs the kernel; with --orders anew for each order, unless its messages have one. */
static int run_launched(call_run *call)
{
    int code = run_once(call);
    while (code == CLI_OK && call->order < call->orders && !has_order(call->kernel)) {
        close_run(call);
        call->order++;
        code = run_once(call);
    }
    return code;
}

/* ---- whole runs ---- */

static int run_whole(void *context)
{
    call_run *const call = context;
    return call->pipeline ? run_pipeline(call) : run_once(call);
}

static void close_whole(void *context)
{
    close_run(context);
}

/* Runs all requests with each seed. What was found becomes a case with the seeds up to the one that found it. */
static int run_with_seeds(call_run *call)
{
    size_t length;
    int code = CLI_OK;
    if (!call->case_path) {
        code = case_gather_call(call->cli, call->pipeline, &call->played);
        call->case_path = call->played.path;
    }
    if (code != CLI_OK)
        return code;
    call->runs.crash.requests = call->played.count;
    call->runs.crash.is_pipeline = call->pipeline != NULL;
    code = call_seeds_run(&call->runs, call->cli, run_whole, close_whole, call);
    if (!call->save || code == CLI_TIMEOUT)
        return code;
    call->seed = call->runs.first;
    call->seeds = call->runs.seed - call->runs.first + 1;
    const char *const pairs = case_gather_pairs(&call->played, &length);
    const int saved = save_case(call, call->answers.differ ? "an answer of a whole run" : "", pairs, length);
    return code == CLI_OK ? saved : code;
}

static int run(cli_context *cli)
{
    call_run call = {.cli = cli, .timeout_ms = TIMEOUT_DEFAULT_MS};
    const cli_option options[] = {
        {"--lanes", .number = &call.lanes, .min = 1, .max = UINT32_MAX},
        {"--blocks", .number = &call.blocks, .min = 1, .max = UINT32_MAX},
        {"--device", .number = &call.device, .max = UINT32_MAX},
        {"--buffer", .list = &call.buffer_specs},
        {"--message-buffer", .list = &call.named_specs},
        {"--output-buffer", .list = &call.output_specs},
        {"--state", .text = &call.state},
        {"--dead-letters", .flag = &call.letters},
        {"--check", .text = &call.checks},
        {"--seed", .number = &call.seed, .min = 1, .max = UINT64_C(1) << 62},
        {"--seeds", .number = &call.seeds, .min = 1, .max = 1000000},
        {"--case", .text = &call.case_path},
        {"--orders", .number = &call.orders, .min = 1, .max = 100000},
        {"--save", .text = &call.save},
        {"--pipeline", .text = &call.pipeline},
        {"--attach", .text = &call.attach},
        {"--socket", .text = &call.socket},
        {"--timeout", .number = &call.timeout_ms, .max = UINT32_MAX},
        {"--trace", .text = &call.trace},
        {0},
    };
    if (cli_parse(cli, options)) {
        if (call.socket && !call.attach)
            cli->exit_code =
                cli_usage_error(cli, "--socket is where a server is: give --attach KERNEL with it");
        else if (call.attach && call.pipeline)
            cli->exit_code = cli_usage_error(
                cli,
                "--attach and --pipeline: --attach NAME takes a kernel or a pipeline of a server, --pipeline "
                "NAME opens one here; choose one");
        else if ((cli->exit_code = prepare_case(&call)) != CLI_OK ||
                 (cli->exit_code = set_checks(&call)) != CLI_OK)
            ; /* told */
        else if (call.is_whole)
            cli->exit_code = run_with_seeds(&call);
        else if (call.attach)
            cli->exit_code = run_attached(&call);
        else if (call.pipeline)
            cli->exit_code = run_pipeline(&call);
        else if (cli->operands.count == 0 || !cli->operands.items[0][0])
            cli->exit_code = cli_usage_error(cli, "expected a kernel file");
        else
            cli->exit_code = run_launched(&call);
    }
    close_run(&call);
    case_answers_finish(&call.answers);
    cli_list_finish(&call.buffer_specs);
    cli_list_finish(&call.named_specs);
    cli_list_finish(&call.output_specs);
    cli_list_finish(&call.own_settings);
    case_file_finish(&call.played);
    return cli->exit_code;
}

const cli_command cli_command_call = {"call", "send requests to a kernel, print its replies", HELP, run};
