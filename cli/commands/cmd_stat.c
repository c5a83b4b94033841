/* SPDX-License-Identifier: Apache-2.0 */
/* gyre stat: what processes with kernels say of themselves, from their observation files. */
#include "cli/observed/health.h"
#include "cli/json/json.h"
#include "cli/observed/stat_print.h"

static const char HELP[] =
    "usage: gyre stat [NAME | PROCESS] [OPTION...]\n"
    "\n"
    "Shows what processes that launched kernels count: kernels, queues, and what their logs complained of. Reads a file that\n"
    "each of them keeps, and asks none, so one that hangs, is stopped or was killed is seen as well. NAME is that of a\n"
    "program, a kernel or a queue; without it all processes are shown.\n"
    "\n"
    "  STATE     of a process: lives; stopped (by SIGSTOP or a debugger); late (it should have looked at itself by now: it\n"
    "            hangs, or the machine is too busy); dead (it was killed, and this is what it said last)\n"
    "  SEEN      how old these values are\n"
    "  LENGTH    places of the queue that are taken, of its CAPACITY; MOST: at once, ever\n"
    "  REFUSED   sends that found the queue full; LOST: messages that were dropped, or became dead letters\n"
    "  FULL      for how long each look found the queue full\n"
    "  OLDEST    for how long each look found the same message unanswered\n"
    "\n"
    "Options:\n"
    "  --events N           the last N events of each process as well\n"
    "  --file FILE          this file alone, for example a copy of one that a killed process left\n"
    "  --health KERNEL      print one line, and exit with 0 if that kernel is active in a process that lives, and no handler\n"
    "                       of it hangs; else with 1\n"
    "  --prometheus         as text for Prometheus\n"
    "  and the options of every command: gyre help\n"
    "\n"
    "Times of events are on the clock of the day. docs/observation.md names every value.\n";

static int print_health(const observed_processes *processes, const char *name)
{
    char sentence[HEALTH_TEXT];
    if (!health_of_one(processes, name, HEALTH_WORKS, sentence))
        return cli_error(CLI_FAILED, "%s", sentence);
    printf("%s\n", sentence);
    return CLI_OK;
}

static int print(const cli_context *cli, const observed_processes *processes, uint64_t events,
                 bool prometheus)
{
    if (prometheus)
        return stat_print_prometheus(processes, stdout);
    if (cli->json)
        return cli_print_json(stat_json(processes, events));
    return stat_print_tables(processes, events);
}

static int run(cli_context *cli)
{
    const char *file = NULL, *health = NULL;
    bool prometheus = false;
    uint64_t events = 0;
    observed_source source;
    observed_processes processes = {0};
    const cli_option options[] = {{"--events", .number = &events, .max = 4096},
                                  {"--file", .text = &file},
                                  {"--health", .text = &health},
                                  {"--prometheus", .flag = &prometheus},
                                  {0}};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    if (cli->operands.count > 1)
        return cli_usage_error(cli, "expected one name or process, found %zu operands", cli->operands.count);
    if (prometheus + cli->json + (health != NULL) > 1)
        return cli_usage_error(cli, "expected one of --health, --json and --prometheus");
    const char *wanted = cli->operands.count ? cli->operands.items[0] : NULL;
    int code = observed_begin(cli, file, wanted, &source);
    if (code == CLI_OK)
        code = observed_open(&source, &processes);
    if (code == CLI_OK && health)
        code = print_health(&processes, health);
    else if (code == CLI_OK && (wanted || (!prometheus && !cli->json)))
        code = observed_need(&processes, wanted);
    if (code == CLI_OK && !health && (processes.count || prometheus || cli->json))
        code = print(cli, &processes, events, prometheus);
    observed_finish(&processes);
    return code;
}

const cli_command cli_command_stat = {"stat", "what processes with kernels count, also dead ones", HELP, run};
