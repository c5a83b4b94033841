/* SPDX-License-Identifier: Apache-2.0 */
/* `gyre backends --peers`: how bytes get from each device to each other one, and how long that takes. */
#ifndef GYRE_CLI_VIEWS_BACKENDS_PEERS_H
#define GYRE_CLI_VIEWS_BACKENDS_PEERS_H

#include "cli/cli.h"

/** Opens every device, prints the matrix. `again`: measures whatever is remembered. Returns an exit code. */
int backends_peers_print(const cli_context *cli, bool again);

#endif
