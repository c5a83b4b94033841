/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a command by its name, and words the error for a name without a command. */
#ifndef GYRE_CLI_COMMAND_FIND_H
#define GYRE_CLI_COMMAND_FIND_H

#include "cli/cli.h"

/** The command of that name, or NULL. */
const cli_command *cli_command_find(const cli_context *cli, const char *name);
/** Prints, for example, "there is no command 'cal'; did you mean 'call'?" on stderr; returns CLI_USAGE. */
int cli_unknown_command(const cli_context *cli, const char *name);

#endif
