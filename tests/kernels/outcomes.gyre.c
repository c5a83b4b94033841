/* SPDX-License-Identifier: Apache-2.0 */
/* Reply, no reply, failure, assertion, log. */
#include <gyre/kernel.h>

#include "outcomes.h"

enum way { ANSWER, STAY_SILENT, FAIL, ASSERT, FAIL_TWICE, FAIL_AND_ANSWER, LONG_TEXT };

GYRE_KERNEL(outcomes, outcomes_request, outcomes_reply)
{
    const i32 code = request->code;
    switch (request->way) {
    case STAY_SILENT:
        return GYRE_NO_REPLY;
    case FAIL:
        return gyre_fail(gyre, code, "told to fail");
    case ASSERT:
        if (!gyre_assert(gyre, code < 100))
            return GYRE_FAILED;
        break;
    case FAIL_TWICE:
        gyre_fail(gyre, code, "the first one counts");
        return gyre_fail(gyre, code + 1, "not this one");
    case FAIL_AND_ANSWER:
        gyre_fail(gyre, code, "a failure cannot be taken back");
        break;
    case LONG_TEXT:
        return gyre_fail(gyre, code, "a text that is longer than the 43 bytes that a failure carries");
    default:
        gyre_log(gyre, "answering", code);
    }
    reply->code = code + 1;
    return GYRE_REPLY;
}
