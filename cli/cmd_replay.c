/* SPDX-License-Identifier: Apache-2.0 */
/* gyre replay: gyre call --case, for recordings. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/command_find.h"

static const char HELP[] =
    "usage: gyre replay FILE [--backend NAME] [--check LIST [--seed N] [--seeds N]] [OPTION...]\n"
    "\n"
    "Sends the requests of a recording, or of another case file, to its kernel on a backend, and compares the\n"
    "answers with those of the file, field by field (docs/testing.md). A queue is recorded with\n"
    "record = FILE in its section [queue.NAME]. Does the same as gyre call --case FILE, whose options it takes.\n"
    "\n"
    "Exit codes: 0 the same answers; 1 another answer; 2 usage; 3 backend or device; 4 configuration;\n"
    "5 no answer in time.\n"
    "\n"
    "Example: the answers of a GPU, compared with those of the CPU, whose checks look for mistakes meanwhile:\n"
    "  gyre call --backend cuda --set queue.total.record=total.gyre-case \\\n"
    "      examples/command/total.gyre.c '{\"add\":1}'\n"
    "  gyre replay total.gyre-case --backend cpu --check races,memory\n";

static int run(cli_context *cli)
{
    static char option[] = "--case";
    const bool is_asked = cli->argument_count && strcmp(cli->arguments[0], "--help") == 0;
    if (!cli->argument_count || (cli->arguments[0][0] == '-' && !is_asked))
        return cli_usage_error(cli, "expected the file first, as in 'gyre replay FILE --backend cpu'");
    char **const given = cli->arguments;
    char **arguments = calloc(cli->argument_count + 2, sizeof *arguments);
    if (!arguments)
        return cli_error(CLI_FAILED, "out of memory");
    arguments[0] = option;
    memcpy(arguments + 1, given, cli->argument_count * sizeof *arguments);
    cli->arguments = is_asked ? given : arguments;
    cli->argument_count += !is_asked;
    const int code = cli_command_find(cli, "call")->run(cli);
    cli->arguments = given;
    free(arguments);
    return code;
}

const cli_command cli_command_replay = {"replay", "compare a recording with a backend's answers", HELP, run};
