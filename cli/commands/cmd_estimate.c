/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyre estimate: how fast a handler would be on a GPU that is not here, and what bounds it. Runs the handler on the CPU and counts,
 * compiles it for the GPU, and computes from measured constants. One thread.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/estimate/estimate_print.h"
#include "core/base/temporary.h"
#include "core/base/text.h"
#include "gyre/backend.h"

enum { COUNT_DEFAULT = 256, COUNT_MOST = 65536, TIMEOUT_DEFAULT_MS = 60000 };

static const char HELP[] =
    "usage: gyre estimate FILE.gyre.c[:KERNEL] [--device D] [OPTION...] [REQUEST...]\n"
    "\n"
    "Tells how fast a handler would be on a GPU, and what bounds it, on a machine that has none: runs the handler on the\n"
    "CPU with some messages, counts what a GPU would do for them, line by line, compiles it for the GPU where NVRTC is\n"
    "there, and computes from constants that were measured on the GPU. docs/simulator.md says how well that agrees.\n"
    "\n"
    "The rate is that of a stream through one queue (and of as many as there are blocks), the latency that of a call\n"
    "alone. Without requests they are made of random fields: integers from 0 to 99, floats from 0 to 100.\n"
    "\n"
    "Options:\n"
    "  --device D         the GPU: h100 or h200; h200\n"
    "  --messages FILE    requests, a line of JSON each, as gyre call reads them\n"
    "  --count N          at most so many of FILE, or how many are made; 256\n"
    "  --lanes N          lanes of a block; a lane kernel has 512, others as CUDA takes\n"
    "  --blocks N         blocks, each with a queue of its own; 1\n"
    "  --buffer NAME=FILE bind a buffer that holds the bytes of FILE; zeros:N: N zero bytes\n"
    "  --state JSON       the kernel's initial state; default: zero\n"
    "  --timeout MS       longest wait for a reply; 60000\n"
    "  and the options of every command: gyre help\n"
    "\n"
    "Exit codes: 1 the file or a message is wrong, 3 no compiler or no objdump, 5 the handler did not reply in time.\n"
    "\n"
    "Example, in a checkout:\n"
    "  gyre estimate examples/vector_add/vector_add.gyre.c --device h200\n";

struct options {
    const char *device, *messages, *state;
    uint64_t count, lanes, blocks, timeout_ms;
    cli_list buffers;
};

static int no_device(const cli_context *cli, const char *name)
{
    size_t count;
    const char *const *const names = machine_names(&count);
    char list[128], hint[GYRE_TEXT_HINT_SIZE];
    return cli_usage_error(cli, "there are no measured constants for a device '%s': expected one of %s%s",
                           name, gyre_text_list(names, count, list, sizeof list),
                           gyre_text_hint(name, names, count, hint));
}

static int read_requests(const cli_context *cli, const struct options *options, estimate_requests *requests)
{
    if (options->messages && cli->operands.count > 1)
        return cli_usage_error(cli, "--messages and REQUEST arguments exclude each other");
    if (options->messages)
        return requests_read(requests, options->messages, options->count);
    return requests_copy(requests, cli->operands.items + 1, cli->operands.count - 1);
}

/* Lanes of a block on the GPU. */
static uint32_t lanes_there(const struct options *options, const machine *gpu, const traffic_file *traffic)
{
    if (traffic->form == GYRE_FORM_BLOCK)
        return (uint32_t)traffic->lanes;
    if (traffic->form != GYRE_FORM_LANE)
        return 1;
    return options->lanes ? (uint32_t)options->lanes : gpu->block_lanes;
}

static int estimate_counted(const cli_context *cli, const struct options *options,
                            const traffic_file *traffic, const trial_result *trial, bool made)
{
    code_lines lines;
    trial_code code;
    const machine *const gpu = machine_find(options->device);
    int result = code_lines_make(&lines, traffic);
    if (result == CLI_OK) {
        trial_compile(cli, gpu->architecture, trial->kernel, &code);
        estimate_report estimate = {.handler = {.machine = gpu,
                                                .traffic = traffic,
                                                .code = &lines,
                                                .request_size = trial->request_size,
                                                .reply_size = trial->reply_size,
                                                .lanes = lanes_there(options, gpu, traffic),
                                                .blocks = (uint32_t)options->blocks,
                                                .failed = trial->failed,
                                                .compiled = code.known,
                                                .registers = code.registers,
                                                .spill_bytes = code.spill_bytes},
                                    .trial = trial,
                                    .code = &code,
                                    .made = made};
        model_compute(&estimate.handler, &estimate.result);
        estimate.advice_count = advice_make(&estimate.handler, &estimate.result, estimate.advice);
        result = cli->json ? estimate_print_json(&estimate) : estimate_print_text(&estimate);
    }
    code_lines_finish(&lines);
    return result;
}

static int estimate_in(const cli_context *cli, const struct options *options, estimate_requests *requests,
                       const char *folder)
{
    char path[PATH_MAX];
    trial_result trial;
    traffic_file traffic = {.steps = NULL};
    snprintf(path, sizeof path, "%.4000s/counts", folder);
    const trial_desc desc = {.cli = cli,
                             .counts_path = path,
                             .lanes = options->lanes,
                             .timeout_ms = options->timeout_ms,
                             .buffers = options->buffers,
                             .state = options->state,
                             .count = options->count};
    int code = trial_run(&desc, requests, &trial);
    if (code == CLI_OK)
        code = traffic_file_read(&traffic, path);
    if (code == CLI_OK && traffic.form == GYRE_FORM_GRID)
        code = cli_usage_error(
            cli,
            "kernel '%s' is a grid kernel, and nothing is known of what its blocks wait for each "
            "other: measure it on the device",
            trial.kernel);
    if (code == CLI_OK && traffic.form != GYRE_FORM_LANE && traffic.form != GYRE_FORM_BLOCK &&
        options->blocks > 1)
        code = cli_usage_error(cli, "kernel '%s' is an actor and has one block: leave --blocks out",
                               trial.kernel);
    if (code == CLI_OK)
        code = estimate_counted(cli, options, &traffic, &trial, requests->made);
    traffic_file_finish(&traffic);
    return code;
}

static int run_with(const cli_context *cli, const struct options *options)
{
    estimate_requests requests = {.texts = NULL};
    struct gyre_temporary folder = {.path = ""};
    int code = read_requests(cli, options, &requests);
    if (code == CLI_OK)
        code = cli_fail_unless_ok(gyre_temporary_make(&folder, "/tmp"));
    if (code == CLI_OK)
        code = estimate_in(cli, options, &requests, folder.path);
    if (folder.path[0])
        gyre_temporary_remove(&folder);
    requests_finish(&requests);
    return code;
}

static int run(cli_context *cli)
{
    struct options given = {
        .device = "h200", .count = COUNT_DEFAULT, .blocks = 1, .timeout_ms = TIMEOUT_DEFAULT_MS};
    const cli_option options[] = {{"--device", .text = &given.device},
                                  {"--messages", .text = &given.messages},
                                  {"--count", .number = &given.count, .min = 1, .max = COUNT_MOST},
                                  {"--lanes", .number = &given.lanes, .min = 1, .max = 1024},
                                  {"--blocks", .number = &given.blocks, .min = 1, .max = 64},
                                  {"--buffer", .list = &given.buffers},
                                  {"--state", .text = &given.state},
                                  {"--timeout", .number = &given.timeout_ms, .max = UINT32_MAX},
                                  {0}};
    int code = cli_parse(cli, options) ? CLI_OK : -1;
    if (code == -1)
        code = cli->exit_code;
    else if (cli->operands.count < 1)
        code = cli_usage_error(cli, "expected a kernel file");
    else if (cli->backend)
        code = cli_usage_error(
            cli, "--backend has no meaning here: the handler runs on the CPU; --device names the GPU");
    else if (!machine_find(given.device))
        code = no_device(cli, given.device);
    else
        code = run_with(cli, &given);
    cli_list_finish(&given.buffers);
    return code;
}

const cli_command cli_command_estimate = {"estimate", "how fast a handler would be on a GPU, and why", HELP,
                                          run};
