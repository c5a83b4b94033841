/* SPDX-License-Identifier: Apache-2.0 */
/* The entry of the program `gyre`, which main() calls: finds the command in the table of commands, and runs it. */
#ifndef GYRE_CLI_COMMANDS_H
#define GYRE_CLI_COMMANDS_H

#include "cli/cli.h"

/** Runs `gyre ARGUMENT...`; `arguments` lacks the program's name. Returns the exit code. */
int cli_main(char **arguments, size_t count);

#endif
