/* SPDX-License-Identifier: Apache-2.0 */
/* Trades become prices, which three kernels get: risk and book, which count, and audit, a tap. docs/pipelines.md explains it. */
#include <gyre/kernel.h>

#include "market.h"

#define FEED_PORTS(PORT) PORT(price, prices, 1)
GYRE_PORTS(feed_ports, FEED_PORTS)

/* The entry. It knows of no subscriber. */
GYRE_KERNEL_TO(feed, trade, gyre_none, feed_ports)
{
    if (request->count == 0)
        return gyre_fail(gyre, 1, "a trade of nothing");
    GYRE_GLOBAL price *out = gyre_emit(gyre, prices);
    out->item = request->item;
    out->count = request->count;
    out->cents = request->cents;
    return GYRE_NO_REPLY;
}

#define EXPOSURE(FIELD) FIELD(u64, cents)
GYRE_MESSAGE(exposure, EXPOSURE)

/* What it fails, fails the request, whatever book replied to it. */
GYRE_ACTOR(risk, price, gyre_none, exposure)
{
    if (request->count * request->cents > 1000000)
        return gyre_fail(gyre, 2, "more than one trade may risk");
    state->cents += request->count * request->cents;
    return GYRE_NO_REPLY;
}

/* The answer. */
GYRE_ACTOR(book, price, booked, booked)
{
    state->number++;
    state->cents += request->count * request->cents;
    *reply = *state;
    return GYRE_REPLY;
}

#define AUDITED(FIELD) FIELD(u64, prices) FIELD(u64, highest)
GYRE_MESSAGE(audited, AUDITED)

/* A tap: no request waits for it, and none fails by it. */
GYRE_ACTOR(audit, price, gyre_none, audited)
{
    state->prices++;
    if (request->cents > state->highest) {
        state->highest = request->cents;
        gyre_log(gyre, "the highest price so far", (i64)request->cents);
    }
    return GYRE_NO_REPLY;
}
