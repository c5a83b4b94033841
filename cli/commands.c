/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a command in the table of commands and runs it: `gyre [GLOBAL OPTION...] COMMAND ...`. Knows only the command `help` by
 * name, because the global options --help and --version run it.
 */
#include "cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/command_find.h"

#define COMMAND(name) &cli_command_##name,
static const cli_command *const commands[] = {
#include "cli_commands.inc"
};
#undef COMMAND

/* Parses the global options before the command's name. The arguments that are left start with that name. */
static bool parse_before_command(cli_context *cli)
{
    if (!cli_parse(cli, NULL))
        return false;
    if (cli->version || cli->help) {
        cli->command = &cli_command_help;
        return true;
    }
    if (cli->argument_count == 0) {
        cli->exit_code = cli_error(CLI_USAGE, "no command given; 'gyre help' lists them");
        return false;
    }
    cli->command = cli_command_find(cli, cli->arguments[0]);
    if (!cli->command) {
        cli->exit_code = cli_unknown_command(cli, cli->arguments[0]);
        return false;
    }
    cli->arguments++;
    cli->argument_count--;
    return true;
}

static int run_command(cli_context *cli)
{
    if (!parse_before_command(cli))
        return cli->exit_code;
    return cli->command->run(cli);
}

/*
 * Makes sure that descriptors 0, 1 and 2 exist. A program may be started without them. Then the first files that it opens would
 * take their places, and replies would be printed into a queue. A missing descriptor becomes a descriptor that fails when it is
 * used.
 */
static bool standard_descriptors_exist(void)
{
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0 &&
            open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) != descriptor)
            return false;
    return true;
}

int cli_main(char **arguments, size_t count)
{
    cli_context cli = {.commands = commands,
                       .command_count = sizeof commands / sizeof commands[0],
                       .arguments = arguments,
                       .argument_count = count};
    if (!standard_descriptors_exist())
        return CLI_FAILED;
    int code = run_command(&cli);
    cli_list_finish(&cli.settings);
    cli_list_finish(&cli.operands);
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == CLI_OK)
        code = cli_error(CLI_FAILED, "cannot write to standard output: %s",
                         errno ? strerror(errno) : "an earlier write failed");
    return code;
}
