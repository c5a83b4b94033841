/* SPDX-License-Identifier: Apache-2.0 */
/* The text of `gyre call --state`. No state of its own. */
#ifndef GYRE_CLI_CALLS_CALL_STATE_H
#define GYRE_CLI_CALLS_CALL_STATE_H

#include <stddef.h>

#include "cli/base/input_file.h"

/**
 * The option's own text, or with "@FILE" a file's. `pipes`: how long a file that is a pipe is waited for. Returns an exit code; prints
 * why when it is not CLI_OK. Owner of *text in every case: the caller, free().
 */
int call_state_text(const char *state, const input_wait *pipes, char **text, size_t *length);

#endif
