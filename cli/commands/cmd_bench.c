/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyre bench: runs the cases whose names match and prints a row for each. The cases themselves are in cli/bench/. A wrong reply
 * makes the command fail, however good the figures are.
 */
#include "cli/bench/bench.h"
#include "cli/bench/report.h"
#include "cli/bench/rounds.h"
#include "cli/json/json.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static const char HELP[] =
    "usage: gyre bench [--case PATTERN]... [--seconds S] [--backend B] [--json]\n"
    "       gyre bench --list\n"
    "\n"
    "Measures calls, streams and the life cycle of kernels, with every reply checked, each beside a floor:\n"
    "the same messages through bare rings between two threads of this program, in turns with the case, so\n"
    "that a figure can be told as a ratio to what the machine itself does in the same second.\n"
    "\n"
    "Options:\n"
    "  --case PATTERN   only cases that match, like 'call/*'; may be repeated\n"
    "  --seconds S      for each case, its floor included; 1 by default\n"
    "  --rest MS        rests between two rounds, so that counts stand for who looks from outside; 0\n"
    "  --list           prints the names of the cases\n"
    "  --here           the case 'memory' measures this process, not a fresh one\n"
    "  --json           one document: the machine, and a row for each case, with when its rounds were (CLOCK_MONOTONIC)\n"
    "\n"
    "A latency is from one reading of the clock to the next: request made, sent, handled, received, checked,\n"
    "and one reading (the document tells its cost) are in it, in floors as in cases. Figures and ratios are\n"
    "medians of 15 rounds; the floor of 'isolated/against/*' is the same case without a worker process. The\n"
    "client is pinned to the first processor, the backend's worker or the floor's server to the second\n"
    "(--set backend.cpu.pin=none leaves the worker free). 'verdict' compares with what the backend should do:\n"
    "the CPU's on a quiet machine with two cores, CUDA's on one H200; other backends have few targets.\n"
    "Exit code 1 when a reply was wrong; a missed target is no failure.\n"
    "\n"
    "The kernels are Gyre's own. Where the time of yours goes: gyre call --set kernel.NAME.timing=true (docs/debugging.md).\n";

static bool case_is_wanted(const cli_list *patterns, const char *name)
{
    for (size_t i = 0; i < patterns->count; i++)
        if (fnmatch(patterns->items[i], name, 0) == 0)
            return true;
    return patterns->count == 0;
}

static size_t count_wanted(const cli_list *patterns)
{
    size_t count = 0;
    for (size_t i = 0; i < bench_case_count; i++)
        count += case_is_wanted(patterns, bench_cases[i].name);
    return count;
}

static int list_cases(const cli_context *cli, const cli_list *patterns)
{
    json_t *names = cli->json ? json_array() : NULL;
    for (size_t i = 0; i < bench_case_count; i++) {
        if (!case_is_wanted(patterns, bench_cases[i].name))
            continue;
        if (names)
            json_array_append_new(names, cli_json_text(bench_cases[i].name));
        else
            puts(bench_cases[i].name);
    }
    return cli->json ? cli_print_json(names) : CLI_OK;
}

static gyre_status run_case(const bench_case *self, const bench_options *options, bench_row *row)
{
    *row = (bench_row){.name = self->name, .message_bytes = bench_request_size(self->shape.kind)};
    gyre_status status = self->run(self, options, row);
    bench_row_aim(self, row);
    bench_row_judge(row);
    return status;
}

/* Prints why a case could not be run. True when the other cases cannot run either: no backend, or a wrong setting. */
static bool others_fail_too(gyre_status status, int *code)
{
    int failure = cli_fail(status);
    if (*code == CLI_OK)
        *code = failure;
    return failure == CLI_UNAVAILABLE || failure == CLI_CONFIG;
}

static int run_cases(const bench_options *options, const cli_list *patterns, bench_row *rows, size_t *count)
{
    int code = CLI_OK;
    for (size_t i = 0; i < bench_case_count; i++) {
        if (!case_is_wanted(patterns, bench_cases[i].name))
            continue;
        gyre_status status = run_case(&bench_cases[i], options, &rows[*count]);
        if (status == GYRE_UNIMPLEMENTED) { /* a case of what this backend does not have */
            fprintf(stderr, "gyre: left out: %s\n", gyre_error_text());
            continue;
        }
        if (status != GYRE_OK && others_fail_too(status, &code))
            break;
        if (status != GYRE_OK)
            continue;
        if (rows[*count].value.errors)
            code = cli_error(CLI_FAILED, "case %s: %llu replies were wrong", bench_cases[i].name,
                             (unsigned long long)rows[*count].value.errors);
        ++*count;
    }
    return code;
}

static json_t *rows_document(const bench_row *rows, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, bench_row_json(&rows[i]));
    return cli_json_object("siifo", "gyre", gyre_version(), "client_core", bench_core_client(), "server_core",
                           bench_core_server(), "clock_ns", bench_clock_cost_ns(), "rows", list);
}

static int run_bench(const bench_options *options, const cli_list *patterns)
{
    size_t count = 0, wanted_count = count_wanted(patterns);
    if (wanted_count == 0)
        return cli_usage_error(options->cli, "no case matches '%s': 'gyre bench --list' names them",
                               patterns->items[0]);
    bench_row *rows = calloc(wanted_count, sizeof *rows);
    if (!rows)
        return cli_error(CLI_FAILED, "out of memory");
    int code = run_cases(options, patterns, rows, &count);
    int printed = CLI_OK;
    if (options->cli->json)
        printed = cli_print_json(rows_document(rows, count));
    else if (count)
        printed = bench_print_rows(rows, count);
    free(rows);
    return code != CLI_OK ? code : printed;
}

static bool parse_seconds(const cli_context *cli, const char *text, bench_options *options, int *code)
{
    char *end;
    options->seconds = strtod(text, &end);
    if (end != text && !*end && options->seconds >= 0.01 && options->seconds <= 3600)
        return true;
    *code = cli_usage_error(cli, "--seconds: expected a number from 0.01 to 3600, found '%s'", text);
    return false;
}

static int run(cli_context *cli)
{
    const char *seconds = "1";
    uint64_t rest_ms = 0;
    bool list = false, here = false;
    cli_list patterns = {0};
    const cli_option cli_options[] = {{.name = "--case", .list = &patterns},
                                      {.name = "--seconds", .text = &seconds},
                                      {.name = "--rest", .number = &rest_ms, .max = 60000},
                                      {.name = "--list", .flag = &list},
                                      {.name = "--here", .flag = &here},
                                      {0}};
    bench_options options = {.cli = cli};
    int code = CLI_OK;
    if (!cli_parse(cli, cli_options))
        code = cli->exit_code;
    else if (cli->operands.count)
        code = cli_usage_error(cli, "expected options only, found '%s'", cli->operands.items[0]);
    else if (list)
        code = list_cases(cli, &patterns);
    else if (parse_seconds(cli, seconds, &options, &code)) {
        options.here = here;
        options.rest_ms = rest_ms;
        code = run_bench(&options, &patterns);
    }
    cli_list_finish(&patterns);
    return code;
}

const cli_command cli_command_bench = {"bench", "measure this machine, each figure beside its floor", HELP,
                                       run};
