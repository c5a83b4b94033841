/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers that reply with what they see of the header, in every form; `filler` makes the larger message. */
#include <gyre/kernel.h>

#include "messages.h"

GYRE_HELPER void tell_header(gyre_context *gyre, GYRE_GLOBAL header_seen *seen)
{
    seen->size = gyre_header_size(gyre);
    seen->type = gyre_header_type(gyre);
    seen->priority = gyre_header_priority(gyre);
    seen->id = gyre_header_id(gyre);
    seen->correlation = gyre_header_correlation(gyre);
    seen->deadline_ns = gyre_header_deadline_ns(gyre);
    seen->sent_ns = gyre_header_sent_ns(gyre);
    seen->sender = gyre_header_sender(gyre);
    seen->receiver = gyre_header_receiver(gyre);
    seen->trace[0] = gyre_header_trace_high(gyre);
    seen->trace[1] = gyre_header_trace_low(gyre);
}

/* Of one line: the reply has no room for more than two fields. */
GYRE_KERNEL(header_brief, words_1, header_short)
{
    reply->word = request->w[0];
    reply->id = gyre_header_id(gyre);
    reply->trace = gyre_header_trace_low(gyre);
    reply->type = gyre_header_type(gyre);
    reply->size = gyre_header_size(gyre);
    return GYRE_REPLY;
}

GYRE_KERNEL(header_lane, words_1, header_seen)
{
    tell_header(gyre, reply);
    reply->word = request->w[0];
    return GYRE_REPLY;
}

GYRE_BLOCK_KERNEL(header_block, words_1, header_seen, gyre_none)
{
    const u64 last = gyre_block_max_u64(gyre, gyre_header_id(gyre)); /* every lane sees the same one */
    if (gyre_lane(gyre) == 0) {
        tell_header(gyre, reply);
        reply->word = last == gyre_header_id(gyre) ? request->w[0] : 0;
    }
    return GYRE_REPLY;
}

GYRE_ACTOR(header_actor, words_1, header_seen, words_1)
{
    state->w[0] += gyre_header_id(gyre);
    tell_header(gyre, reply);
    reply->word = request->w[0];
    return GYRE_REPLY;
}
