/* SPDX-License-Identifier: Apache-2.0 */
/* The library as the command uses it: configurations and runtimes with what its options said. */
#ifndef GYRE_CLI_OPEN_H
#define GYRE_CLI_OPEN_H

#include "cli/cli.h"

struct gyre_config;

/**
 * gyre_open with what --config, --set and --backend said; log lines go to stderr as "gyre: warning: ...".
 */
gyre_status cli_open(const cli_context *cli, gyre_runtime **out);
/** The same for a program that serves for long: its log has time stamps. */
gyre_status cli_open_for_others(const cli_context *cli, gyre_runtime **out);
/** The description that launches the kernel that an operand names: a file, or a kernel whose source is configured. */
gyre_launch_desc cli_launch(const cli_context *cli, const char *operand);
/** The same configuration without a runtime. Owner of *out: the caller. */
gyre_status cli_load(const cli_context *cli, struct gyre_config **out);
/** Writes the warnings of a configuration to stderr, as cli_open does. */
void cli_warn(const struct gyre_config *config);
/**
 * As cli_fail_unless_ok, for calls that open a device on the way: CLI_UNAVAILABLE when the device that was
 * asked for, by --backend or by the configuration, could not be opened, whatever the status calls that.
 */
int cli_fail_unless_device(gyre_runtime *runtime, gyre_status status);

#endif
