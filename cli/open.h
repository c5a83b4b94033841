/* SPDX-License-Identifier: Apache-2.0 */
/* Opens configurations and runtimes with the settings of the command's options (--config, --set, --backend). */
#ifndef GYRE_CLI_OPEN_H
#define GYRE_CLI_OPEN_H

#include "cli/cli.h"

struct gyre_config;

/**
 * Opens a runtime with the settings of --config, --set and --backend; log lines go to stderr as "gyre: warning: ...".
 */
gyre_status cli_open(const cli_context *cli, gyre_runtime **out);
/** Does what cli_open does, for `gyre serve`, which runs for long: its log lines have time stamps. */
gyre_status cli_open_for_others(const cli_context *cli, gyre_runtime **out);
/** The launch descriptor for the kernel that an operand names: a file, or a kernel whose source is configured. */
gyre_launch_desc cli_launch(const cli_context *cli, const char *operand);
/** Loads the configuration with which cli_open would open a runtime. The caller owns *out. */
gyre_status cli_load(const cli_context *cli, struct gyre_config **out);
/** Writes the warnings of a configuration to stderr, as cli_open does. */
void cli_warn(const struct gyre_config *config);
/**
 * True when a setting of this place is for this command alone: it stands at the command line, or in the file of --config or
 * GYRE_CONFIG. Other files may be for other programs as well.
 */
bool cli_is_own_place(const cli_context *cli, const char *place);
/** True when the configuration has a kernel with a source, or a pipeline, of that name. */
bool cli_is_configured(const struct gyre_config *config, const char *name);
/**
 * Warns of sections of kernels and queues that are for this command alone (cli_is_own_place), and neither for the only kernel that
 * it launched nor for something else that is configured. The core told of names that are near already.
 */
void cli_warn_of_others(const cli_context *cli, gyre_runtime *runtime, gyre_kernel *kernel);
/**
 * Does what cli_fail_unless_ok does, for a status of a call that opens a device on the way. Returns CLI_UNAVAILABLE when the
 * device of --backend or of the configuration could not be opened, whatever the status is.
 */
int cli_fail_unless_device(gyre_runtime *runtime, gyre_status status);

#endif
