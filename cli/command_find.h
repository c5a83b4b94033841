/* SPDX-License-Identifier: Apache-2.0 */
/* Finding a command by its name, and the sentence where there is none. */
#ifndef GYRE_CLI_COMMAND_FIND_H
#define GYRE_CLI_COMMAND_FIND_H

#include "cli/cli.h"

/** The command of that name, or NULL. */
const cli_command *cli_command_find(const cli_context *cli, const char *name);
/** Like "there is no command 'cal'; did you mean 'call'?" on stderr; returns CLI_USAGE. */
int cli_unknown_command(const cli_context *cli, const char *name);

#endif
