/* SPDX-License-Identifier: Apache-2.0 */
/* gyre replay: gyre call --case, for recordings. */
#include "cli/cli.h"
#include "cli/command_find.h"

static const char HELP[] =
    "usage: gyre replay FILE [--backend NAME] [--check LIST [--seed N] [--seeds N]] [--orders N]\n"
    "                   [--lanes N] [--blocks N] [--device N] [--timeout MS]\n"
    "\n"
    "Sends the requests of a recording, or of another case file, to its kernel on a backend, and compares the\n"
    "answers with those of the file, field by field (docs/testing.md). A queue is recorded with\n"
    "record = FILE in its section [queue.NAME]. Does the same as gyre call --case FILE.\n"
    "\n"
    "Exit codes: 0 the same answers; 1 another answer; 2 usage; 3 backend or device; 4 configuration;\n"
    "5 no answer in time.\n"
    "\n"
    "Example: the answers of a GPU, compared with those of the CPU, whose checks look for mistakes meanwhile:\n"
    "  gyre call --backend cuda --set queue.total.record=total.gyre-case \\\n"
    "      examples/command/total.gyre.c '{\"add\":1}'\n"
    "  gyre replay total.gyre-case --backend cpu --check races,memory\n";

/* Options that are passed on, with one value each. */
static const char *const PASSED_ON[] = {"--check",   "--seed",  "--seeds",  "--orders",
                                        "--timeout", "--lanes", "--blocks", "--device"};
enum { PASSED_COUNT = sizeof PASSED_ON / sizeof *PASSED_ON, ARGUMENTS_MAX = 2 + 2 * PASSED_COUNT };

/* Runs `gyre call --case FILE` with the options that were given. Those of every command are in `cli` already. */
static int call_case(cli_context *cli, const char *const values[PASSED_COUNT])
{
    const char *arguments[ARGUMENTS_MAX] = {"--case", cli->operands.items[0]};
    size_t count = 2;
    for (size_t i = 0; i < PASSED_COUNT; i++) {
        if (!values[i])
            continue;
        arguments[count++] = PASSED_ON[i];
        arguments[count++] = values[i];
    }
    cli_list_finish(&cli->operands);
    cli->arguments = (char **)(uintptr_t)arguments;
    cli->argument_count = count;
    const int code = cli_command_find(cli, "call")->run(cli);
    cli->arguments = NULL;
    cli->argument_count = 0;
    return code;
}

static int run(cli_context *cli)
{
    const char *values[PASSED_COUNT] = {NULL};
    cli_option options[PASSED_COUNT + 1] = {{0}};
    for (size_t i = 0; i < PASSED_COUNT; i++)
        options[i] = (cli_option){PASSED_ON[i], .text = &values[i]};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    if (cli->operands.count != 1)
        return cli_usage_error(cli, "expected one recording or case file");
    return call_case(cli, values);
}

const cli_command cli_command_replay = {"replay", "compare a recording with a backend's answers", HELP, run};
