/* SPDX-License-Identifier: Apache-2.0 */
/* gyre config --memory FILE|NAME: prints the memory that the queues of a file's kernels take, as they are configured. */
#ifndef GYRE_CLI_VIEWS_CONFIG_MEMORY_H
#define GYRE_CLI_VIEWS_CONFIG_MEMORY_H

#include "cli/cli.h"

/**
 * Compiles the file for the configured backend, and prints rows for each of its kernels: a row for the kernel's main queue, and
 * a row for each section that configures another queue of the kernel. Launches nothing. The operand may be the name of a kernel
 * whose source is configured; then rows for only that kernel are printed. Returns an exit code.
 */
int config_memory_print(const cli_context *cli, const char *operand);

#endif
