/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyre doctor: tells whether Gyre can work here, and which files, sockets and workers dead processes left behind. Only reads,
 * unless it is told to clean up. Then it removes things that no living process uses, and nothing else.
 */

#include "cli/cli.h"
#include "cli/doctor/doctor_json.h"
#include "cli/json/json.h"
#include "cli/open.h"
#include "cli/base/table.h"

static const char HELP[] =
    "usage: gyre doctor [--clean] [--json]\n"
    "\n"
    "Looks at what Gyre needs on this machine, and at what processes that died have left: sockets of servers, files\n"
    "that were not finished in the cache, folders of compiles, observation files (gyre stat reads them), worker processes\n"
    "whose program is gone. Each finding is one line:\n"
    "\n"
    "  ok       as it should be\n"
    "  note     works, and could be better\n"
    "  left     left by a dead process; --clean removes it\n"
    "  removed  was left, and is gone now\n"
    "  problem  something will not work\n"
    "\n"
    "Nothing that a living process uses is ever touched. Exit code 1 when there is a problem, or something is left.\n"
    "\n"
    "Options:\n"
    "  --clean              remove what was left\n"
    "  and the options of every command: gyre help\n";

static int print_report(const doctor_report *report)
{
    static const char *const headers[] = {"STATE", "WHAT", "ABOUT", NULL};
    cli_table *table = cli_table_create(headers);
    for (size_t i = 0; i < report->count; i++) {
        const char *const cells[] = {doctor_state_word(report->findings[i].state), report->findings[i].what,
                                     report->findings[i].about};
        cli_table_add(table, cells);
    }
    return cli_table_print(table);
}

static int examine_machine(const cli_context *cli, bool clean)
{
    gyre_runtime *runtime = NULL;
    doctor_report report = {.clean = clean};
    int code = cli_fail_unless_ok(cli_open(cli, &runtime)); /* a configuration that is wrong says where */
    if (code != CLI_OK)
        return code;
    doctor_look_at_all(&report, runtime);
    code = cli->json ? cli_print_json(cli_json_object("o", "findings", doctor_json(&report)))
                     : print_report(&report);
    for (size_t i = 0; i < report.count && code == CLI_OK; i++)
        if (report.findings[i].state == DOCTOR_PROBLEM || report.findings[i].state == DOCTOR_LEFT)
            code = CLI_FAILED;
    gyre_close(runtime);
    return code;
}

static int run(cli_context *cli)
{
    bool clean = false;
    const cli_option options[] = {{"--clean", .flag = &clean}, {0}};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    if (cli->operands.count)
        return cli_usage_error(cli, "expected no operand");
    return examine_machine(cli, clean);
}

const cli_command cli_command_doctor = {"doctor", "what is missing here, and what dead processes left", HELP,
                                        run};
