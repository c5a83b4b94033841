/* SPDX-License-Identifier: Apache-2.0 */
/* The whole command: its table of commands, and the way into one. main() calls it. */
#ifndef GYRE_CLI_COMMANDS_H
#define GYRE_CLI_COMMANDS_H

#include "cli/cli.h"

/** Runs `gyre ARGUMENT...` (without the program's name) and returns what it exits with. */
int cli_main(char **arguments, size_t count);

#endif
