/* SPDX-License-Identifier: Apache-2.0 */
/* A handler that returns once a file is there: only for the CPU backend, because no handler may look for files. */
#include <stdlib.h>
#include <unistd.h>

#include <gyre/kernel.h>
#include "messages.h"

GYRE_KERNEL(returning, block_1, block_1)
{
    const char *path = getenv("STUCK_UNTIL");
    gyre_log(gyre, "waits", 0);
    while (path && access(path, F_OK) != 0)
        usleep(1000);
    reply->w[0] = request->w[0];
    return GYRE_REPLY;
}
