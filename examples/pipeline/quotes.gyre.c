/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A desk asks two shops what an order costs, and takes the lower price: a pipeline whose kernels ask each other. gyre.ini has
 * other examples; quotes.ini joins these kernels. docs/pipelines.md explains each part.
 */
#include <gyre/kernel.h>

#define ORDER(FIELD) FIELD(u32, item) FIELD(u32, count)
GYRE_MESSAGE(order, ORDER)
#define OFFER(FIELD) FIELD(u32, shop) FIELD(u32, cents)
GYRE_MESSAGE(offer, OFFER)
#define BILL(FIELD) FIELD(u32, shop) FIELD(u32, cents)
GYRE_MESSAGE(bill, BILL)

/* What the desk takes: orders of clients, and offers, which are the answers of shops. */
#define DESK(TAKES) TAKES(order, bill) TAKES(offer, bill)
GYRE_PROTOCOL(desk, DESK)

#define DESK_PORTS(PORT, ASK) ASK(order, offer, corner, 1) ASK(order, offer, mall, 1)
GYRE_PORTS_WITH_ASKS(desk_ports, DESK_PORTS)

struct offers {
    offer best;
    u32 seen; /* a bit for each token */
};
GYRE_FLOW(desk, struct offers)

/* The entry, and the answer. */
GYRE_ACTOR_OF_TO(desk, DESK, desk_ports, gyre_none)
GYRE_HANDLER_TO(desk, order, bill)
{
    *gyre_ask(gyre, corner, 1) = *request;
    *gyre_ask(gyre, mall, 2) = *request;
    return GYRE_NO_REPLY;
}

/* An answer: `gyre_token` says to which ask. A client that sends an offer has none. */
GYRE_HANDLER_TO(desk, offer, bill)
{
    GYRE_GLOBAL struct offers *flow = gyre_flow(gyre, desk);
    if (gyre_token(gyre) == 0)
        return gyre_fail(gyre, 2, "nobody asked for this offer");
    if (flow->seen == 0 || request->cents < flow->best.cents)
        flow->best = *request;
    flow->seen |= gyre_token(gyre);
    if (flow->seen != 3)
        return GYRE_NO_REPLY;
    reply->shop = flow->best.shop;
    reply->cents = flow->best.cents;
    return GYRE_REPLY;
}

/* The shops know nothing of the desk: any kernel that replies may be asked. */
GYRE_KERNEL(corner, order, offer)
{
    reply->shop = 1;
    reply->cents = request->count * 120;
    return GYRE_REPLY;
}

GYRE_KERNEL(mall, order, offer)
{
    if (request->count == 0)
        return gyre_fail(gyre, 1, "an order of nothing");
    reply->shop = 2;
    reply->cents = 500 + request->count * 100;
    return GYRE_REPLY;
}
