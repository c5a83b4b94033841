/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that is asked, and has not a word about it. */
#include <gyre/kernel.h>

#include "asks.h"

GYRE_KERNEL(hermit, riddle, riddle)
{
    if (request->what == RIDDLE_FAILS)
        return gyre_fail(gyre, RIDDLE_FAILURE, "as told");
    *reply = *request;
    reply->sum = riddle_mix(request->seed, 300);
    return request->what == RIDDLE_SILENT ? GYRE_NO_REPLY : GYRE_REPLY;
}
