/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the table of all configuration keys (`gyre config --keys`), for people and for the manual page gyre.ini(5). */
#ifndef GYRE_CLI_VIEWS_CONFIG_KEYS_H
#define GYRE_CLI_VIEWS_CONFIG_KEYS_H

#include "cli/cli.h"

/** Prints every key with the values that it takes, its default and its meaning. Returns an exit code. */
int config_keys_print(const cli_context *cli);

#endif
