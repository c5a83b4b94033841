/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of commands and the way into one: `gyre [GLOBAL OPTION...] COMMAND ...`. Knows no command in
 * particular but `help`, which the global options --help and --version stand for.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/text.h"

#define COMMAND(name) &cli_command_##name,
const cli_command *const cli_commands[] = {
#include "cli_commands.inc"
};
#undef COMMAND
const size_t cli_command_count = sizeof cli_commands / sizeof cli_commands[0];

const cli_command *cli_command_find(const char *name)
{
    for (size_t i = 0; i < cli_command_count; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    return NULL;
}

int cli_unknown_command(const char *name)
{
    const char *names[sizeof cli_commands / sizeof cli_commands[0]];
    for (size_t i = 0; i < cli_command_count; i++)
        names[i] = cli_commands[i]->name;
    const char *nearest = gyre_text_nearest(name, names, cli_command_count);
    if (nearest)
        return cli_error(CLI_USAGE, "there is no command '%s'; did you mean '%s'?", name, nearest);
    return cli_error(CLI_USAGE, "there is no command '%s'; 'gyre help' lists them", name);
}

/* The global options before the command's name; what is left starts with that name. */
static bool parse_before_command(cli_context *cli)
{
    const cli_command *const help = cli_command_find("help");
    if (!cli_parse(cli, NULL))
        return false;
    if (cli->version || cli->help) {
        cli->command = help;
        return true;
    }
    if (cli->argument_count == 0) {
        cli->exit_code = cli_error(CLI_USAGE, "no command given; 'gyre help' lists them");
        return false;
    }
    cli->command = cli_command_find(cli->arguments[0]);
    if (!cli->command) {
        cli->exit_code = cli_unknown_command(cli->arguments[0]);
        return false;
    }
    cli->arguments++;
    cli->argument_count--;
    return true;
}

static int run(cli_context *cli)
{
    if (!parse_before_command(cli))
        return cli->exit_code;
    return cli->command->run(cli);
}

/*
 * A program may be started without standard descriptors, and the first files that it opens would take their
 * places: replies would be printed into a queue. What is missing becomes something that fails when it is
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
    cli_context cli = {.arguments = arguments, .argument_count = count};
    if (!standard_descriptors_exist())
        return CLI_FAILED;
    int code = run(&cli);
    cli_list_finish(&cli.settings);
    cli_list_finish(&cli.operands);
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == CLI_OK)
        code = cli_error(CLI_FAILED, "cannot write to standard output: %s",
                         errno ? strerror(errno) : "an earlier write failed");
    return code;
}
