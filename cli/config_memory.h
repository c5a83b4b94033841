/* SPDX-License-Identifier: Apache-2.0 */
/* gyre config --memory FILE|NAME: the memory that the queues of a file's kernels take, as they are configured. */
#ifndef GYRE_CLI_CONFIG_MEMORY_H
#define GYRE_CLI_CONFIG_MEMORY_H

#include "cli/cli.h"

/**
 * Compiles the file for the configured backend and prints a row for each of its kernels and each section of
 * queues: the kernel's own, by its name, and those that another queue of it may go by. Nothing is launched. The
 * operand may be the name of a kernel whose source is configured, which is then the one.
 * Returns an exit code.
 */
int config_memory_print(const cli_context *cli, const char *operand);

#endif
