/* SPDX-License-Identifier: Apache-2.0 */
/* Which signals end a command that runs until it is ended. No state. */
#include "cli/base/signals.h"

#include <stddef.h>

bool cli_signal_is_ignored(int signal)
{
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}
