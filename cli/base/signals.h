/* SPDX-License-Identifier: Apache-2.0 */
/* Which signals end a command that runs until it is ended. */
#ifndef GYRE_CLI_BASE_SIGNALS_H
#define GYRE_CLI_BASE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/**
 * True when this program was started with the signal ignored, as nohup and shells do. Such a signal is to stay ignored: a
 * command that blocks it to take it later would get it all the same, because a blocked signal is kept whatever is to be done
 * with it. Ask before a handler is set.
 */
bool cli_signal_is_ignored(int signal);

#endif
