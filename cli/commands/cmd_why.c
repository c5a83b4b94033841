/* SPDX-License-Identifier: Apache-2.0 */
/* gyre why: what is wrong with a kernel or a queue, in sentences. */
#include <time.h>

#include "cli/observed/rates_look.h"
#include "cli/observed/why.h"

static const char HELP[] =
    "usage: gyre why NAME [OPTION...]\n"
    "\n"
    "Says in sentences what is wrong with a kernel, with the kernel of a queue, or with a pipeline: whether its process lives, what it waits for,\n"
    "which of its queues are full and why, what was refused or lost since when, and which setting would help. Looks at its\n"
    "process until the rates are known, a second or two; asks it nothing.\n"
    "\n"
    "Options:\n"
    "  --file FILE          a copy of an observation file, for example of a process that was killed\n"
    "  and the options of every command: gyre help\n";

static bool nap(void *context, uint64_t milliseconds)
{
    const struct timespec time = {0, (long)milliseconds * 1000000};
    (void)context;
    nanosleep(&time, NULL);
    return true;
}

static int run(cli_context *cli)
{
    const char *file = NULL;
    observed_source source;
    observed_processes processes = {0};
    rates_table table = {0};
    const cli_option options[] = {{"--file", .text = &file}, {0}};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    if (cli->operands.count != 1)
        return cli_usage_error(cli,
                               "expected the name of a kernel, a queue or a pipeline, found %zu operands",
                               cli->operands.count);
    const char *name = cli->operands.items[0];
    int code = observed_begin(cli, file, name, &source);
    if (code == CLI_OK)
        code = rates_look_twice(&source, &processes, &table, nap, NULL);
    if (code == CLI_OK && why_tell(stdout, &table, name) == 0)
        code = cli_error(CLI_FAILED,
                         "no process that can be seen has a kernel or a queue '%s'; 'gyre stat' lists them",
                         name);
    rates_finish(&table);
    observed_finish(&processes);
    return code;
}

const cli_command cli_command_why = {"why", "what is wrong with a kernel or a queue", HELP, run};
