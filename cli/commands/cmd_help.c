/* SPDX-License-Identifier: Apache-2.0 */
/* gyre help: prints the help of a command. Also prints the texts of the global options --help and --version. */
#include "cli/cli.h"
#include "cli/command_find.h"
#include "cli/json/json.h"

#include "gyre/backend.h"
#include "gyre/gyre.h"

#define TEXT_OF_(number) #number
#define TEXT_OF(number)  TEXT_OF_(number)
#define ABI              TEXT_OF(GYRE_ABI_MAJOR) "." TEXT_OF(GYRE_ABI_MINOR)

static const char HELP[] =
    "usage: gyre [OPTION...] COMMAND [ARGUMENT...]\n"
    "       gyre help [COMMAND]\n"
    "       gyre --version\n"
    "\n"
    "Runs message handlers that are resident on a device. 'gyre help' lists the commands.\n"
    "\n"
    "Options of every command, before or behind its name:\n"
    "  --config FILE            a configuration file; beats the system's and the user's\n"
    "  --set SECTION.KEY=VALUE  one value of the configuration; beats every file; may be repeated\n"
    "  --backend NAME           the backend to use; same as --set gyre.backend=NAME\n"
    "  --json                   listings as one JSON document\n"
    "  -h, --help               the command's help\n"
    "  --                       everything behind it is an argument, not an option\n"
    "\n"
    "Exit codes: 0 ok, 1 failed, 2 usage, 3 backend or device unavailable, 4 configuration, 5 timed out.\n";

static int print_version(const cli_context *cli)
{
    if (cli->json)
        return cli_print_json(cli_json_object("ss", "version", GYRE_VERSION_TEXT, "backend_abi", ABI));
    printf("gyre %s (backend ABI %s)\n", GYRE_VERSION_TEXT, ABI);
    return CLI_OK;
}

static int print_overview_json(const cli_context *cli)
{
    json_t *commands = json_array();
    for (size_t i = 0; i < cli->command_count; i++)
        json_array_append_new(commands, cli_json_object("ss", "name", cli->commands[i]->name, "summary",
                                                        cli->commands[i]->summary));
    return cli_print_json(commands);
}

static int print_overview(const cli_context *cli)
{
    if (cli->json)
        return print_overview_json(cli);
    fputs(HELP, stdout);
    fputs("\nCommands:\n", stdout);
    for (size_t i = 0; i < cli->command_count; i++)
        printf("  %-10s %s\n", cli->commands[i]->name, cli->commands[i]->summary);
    return CLI_OK;
}

static int run(cli_context *cli)
{
    if (cli->version)
        return print_version(cli);
    if (cli->help && cli->argument_count == 0)
        return print_overview(cli);
    cli->help = false; /* `gyre --help call` is `gyre help call` */
    if (!cli_parse(cli, NULL))
        return cli->exit_code;
    if (cli->operands.count == 0)
        return print_overview(cli);
    if (cli->operands.count > 1)
        return cli_usage_error(cli, "expected one command, found '%s' too", cli->operands.items[1]);
    const cli_command *command = cli_command_find(cli, cli->operands.items[0]);
    if (!command)
        return cli_unknown_command(cli, cli->operands.items[0]);
    fputs(command->help, stdout);
    return CLI_OK;
}

const cli_command cli_command_help = {"help", "explain a command, or list them", HELP, run};
