/* SPDX-License-Identifier: Apache-2.0 */
/* Does what the request says: replies, stays silent, fails, asserts, logs, takes its time. */
#include <gyre/kernel.h>
#include "messages.h"

GYRE_HELPER gyre_result do_as_told(const GYRE_GLOBAL behaviour *request, GYRE_GLOBAL words_1 *reply,
                                   gyre_context *gyre)
{
    u64 start = gyre_time_ns(gyre);
    switch (request->what) {
    case BEHAVE_NO_REPLY:
        return GYRE_NO_REPLY;
    case BEHAVE_FAIL:
        return gyre_fail(gyre, (i32)request->number, "asked to fail");
    case BEHAVE_ASSERT:
        if (!gyre_assert(gyre, request->number < 10))
            return GYRE_FAILED;
        break;
    case BEHAVE_NONSENSE:
        return 77;
    case BEHAVE_LOG:
        gyre_log(gyre, "number is", (i64)request->number);
        break;
    case BEHAVE_WAIT:
        while (gyre_time_ns(gyre) - start < (u64)request->microseconds * 1000)
            ;
        break;
    default:
        break;
    }
    reply->w[0] = request->number + 1;
    return GYRE_REPLY;
}

GYRE_KERNEL(behave, behaviour, words_1)
{
    return do_as_told(request, reply, gyre);
}

/* The same, one message after the other on every device. */
GYRE_ACTOR(behave_in_turn, behaviour, words_1, gyre_none)
{
    return do_as_told(request, reply, gyre);
}
