/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a command by its name. No state. */
#include "cli/command_find.h"

#include <string.h>

#include "core/base/text.h"

enum { COMMANDS_MAX = 64 }; /* commands among which an error sentence looks for a similar name */

const cli_command *cli_command_find(const cli_context *cli, const char *name)
{
    for (size_t i = 0; i < cli->command_count; i++)
        if (strcmp(cli->commands[i]->name, name) == 0)
            return cli->commands[i];
    return NULL;
}

int cli_unknown_command(const cli_context *cli, const char *name)
{
    const char *names[COMMANDS_MAX];
    size_t count = 0;
    for (; count < cli->command_count && count < COMMANDS_MAX; count++)
        names[count] = cli->commands[count]->name;
    const char *nearest = gyre_text_nearest(name, names, count);
    if (nearest)
        return cli_error(CLI_USAGE, "there is no command '%s'; did you mean '%s'?", name, nearest);
    return cli_error(CLI_USAGE, "there is no command '%s'; 'gyre help' lists them", name);
}
