/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two handlers by what they did with their shares of a kernel's messages (canary.h). */
#include "core/change/canary.h"

/* By how many standard deviations the shares of failed messages have to differ: at the end, and before it. */
#define APART_AT_END   3.0
#define APART_BEFORE   5.0
#define TIMES_SLOWER   2.0 /* as long in the handler, on average */
#define SLOWER_NS      1000.0
#define SLOWER_BETWEEN 64 /* messages that the average has to be of */
#define FAILED_ALONE   64 /* failures that tell enough before the end, where the old handler got no message */

/* Whether the share of failed messages is larger by more than chance makes likely, if both had the same one. */
static bool fails_more(const struct gyre_canary_seen *seen, bool final)
{
    const double apart = final ? APART_AT_END : APART_BEFORE;
    const double was = (double)seen->handled, is = (double)seen->next_handled;
    if (seen->next_failed == 0 || seen->next_handled == 0)
        return false;
    if (seen->handled == 0) /* nothing to compare with: a handler that fails is not taken */
        return final || seen->next_failed >= FAILED_ALONE;
    const double all = (double)(seen->failed + seen->next_failed) / (was + is);
    const double difference = (double)seen->next_failed / is - (double)seen->failed / was;
    const double variance = all * (1 - all) * (1 / was + 1 / is);
    return difference > 0 && difference * difference > apart * apart * variance;
}

static bool is_slower(const struct gyre_canary_seen *seen)
{
    if (seen->handled < SLOWER_BETWEEN || seen->next_handled < SLOWER_BETWEEN || !seen->handled_ns)
        return false;
    const double was = (double)seen->handled_ns / (double)seen->handled;
    const double is = (double)seen->next_handled_ns / (double)seen->next_handled;
    return is > TIMES_SLOWER * was && is - was > SLOWER_NS;
}

enum gyre_canary_verdict gyre_canary_judge(const struct gyre_canary_seen *seen, bool final)
{
    if (seen->deaths)
        return GYRE_CANARY_DIED;
    if (fails_more(seen, final))
        return GYRE_CANARY_FAILS_MORE;
    return final && is_slower(seen) ? GYRE_CANARY_SLOWER : GYRE_CANARY_NO_WORSE;
}
