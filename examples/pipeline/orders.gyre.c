/* SPDX-License-Identifier: Apache-2.0 */
/* Three kernels of one pipeline: check -> price -> book. docs/pipelines.md explains it. */
#include <gyre/kernel.h>

#include "orders.h"

#define CHECK_PORTS(PORT) PORT(order, good, 1) PORT(order, large, 1)
GYRE_PORTS(check_ports, CHECK_PORTS)

/* The entry: it refuses, or passes on. */
GYRE_KERNEL_TO(check, order, gyre_none, check_ports)
{
    if (request->item > 3)
        return gyre_fail(gyre, 1, "there is no such item");
    *gyre_emit(gyre, good) = *request;
    if (request->count >= 100)
        *gyre_emit(gyre, large) = *request;
    return GYRE_NO_REPLY;
}

#define PRICE_PORTS(PORT) PORT(priced, sums, 1)
GYRE_PORTS(price_ports, PRICE_PORTS)

GYRE_KERNEL_TO(price, order, gyre_none, price_ports)
{
    GYRE_GLOBAL priced *out = gyre_emit(gyre, sums);
    out->item = request->item;
    out->count = request->count;
    out->cents = request->count * (u64)(request->item + 1) * 350;
    return GYRE_NO_REPLY;
}

#define SALES(FIELD) FIELD(u64, receipts) FIELD(u64, cents)
GYRE_MESSAGE(sales, SALES)

/* The answer: an actor, which takes one message after the other and keeps a state. */
GYRE_ACTOR(book, priced, receipt, sales)
{
    state->receipts++;
    state->cents += request->cents;
    reply->number = state->receipts;
    reply->cents = request->cents;
    return GYRE_REPLY;
}
