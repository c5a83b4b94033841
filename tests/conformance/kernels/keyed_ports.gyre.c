/* SPDX-License-Identifier: Apache-2.0 */
/* Keyed actors that send to keyed actors. */
#include <gyre/kernel.h>

#include "keyed_ports.h"

#define TRIP_PORTS(PORT) PORT(trip, next, TRIP_FAN_MAX) PORT(trip, end, 1)
GYRE_PORTS(trip_ports, TRIP_PORTS)

GYRE_HELPER void go_on(const GYRE_GLOBAL trip *request, GYRE_GLOBAL trip *out, u32 number)
{
    *out = *request;
    out->hops = request->hops - 1;
    out->vertex =
        TRIP_NEXT(request->vertex, request->seed, request->hops, number, request->vertices, request->what);
    out->sum = request->sum + request->vertex;
}

/* A vertex of a graph: a trip goes on to `fan` others until it has made its hops. One that goes to one at a time ends somewhere. */
GYRE_KEYED_ACTOR_TO(trips, trip, gyre_none, trip_ports, vertex, vertex)
{
    const u32 turn = gyre_turn(gyre);
    if (turn == 0) {
        state->visits++;
        state->mixed += TRIP_MIX(request->vertex, request->seed, request->hops);
    }
    if (TRIP_IS_BAD(request->vertex, request->what))
        return gyre_fail(gyre, TRIP_FAILED, "no way on from here");
    if (request->hops == 0) {
        if (request->fan == 1)
            *gyre_emit(gyre, end) = *request;
        return GYRE_NO_REPLY;
    }
    if (request->what & TRIP_SPREADS) {
        go_on(request, gyre_emit(gyre, next), turn);
        return turn + 1 < request->fan ? GYRE_MORE : GYRE_NO_REPLY;
    }
    for (u32 i = 0; i < request->fan; i++)
        go_on(request, gyre_emit(gyre, next), i);
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(trip_ends, trip, trip)
{
    *reply = *request;
    return GYRE_REPLY;
}

#define FEED_PORTS(PORT) PORT(trip, out, 1)
GYRE_PORTS(feed_ports, FEED_PORTS)

GYRE_KERNEL_TO(trip_feed, trip, gyre_none, feed_ports)
{
    *gyre_emit(gyre, out) = *request;
    return GYRE_NO_REPLY;
}

#define SHOPPER_PORTS(PORT, ASK) ASK(price, price, stalls, 1)
GYRE_PORTS_WITH_ASKS(shopper_ports, SHOPPER_PORTS)

/* Asks a stall for its price, and pays it. */
GYRE_KEYED_ACTOR_TO(shoppers, price, price, shopper_ports, spent, shopper)
{
    if (gyre_token(gyre) == 0) {
        *gyre_ask(gyre, stalls, 1) = *request;
        return GYRE_NO_REPLY;
    }
    state->cents += request->cents;
    *reply = *request;
    return GYRE_REPLY;
}

GYRE_HELPER void tell_price(gyre_context *gyre, const GYRE_GLOBAL price *request, GYRE_GLOBAL price *reply)
{
    *reply = *request;
    reply->cents = STALL_CENTS(request->stall);
    reply->block = gyre_block(gyre);
}

GYRE_KEYED_ACTOR(keyed_stalls, price, price, spent, stall)
{
    state->cents += STALL_CENTS(request->stall);
    tell_price(gyre, request, reply);
    return GYRE_REPLY;
}

GYRE_KERNEL(stalls, price, price)
{
    tell_price(gyre, request, reply);
    return GYRE_REPLY;
}

#define MOVE_PORTS(PORT) PORT(move, moves, 1)
GYRE_PORTS(move_ports, MOVE_PORTS)

GYRE_HELPER gyre_result pass(gyre_context *gyre, move_ports *ports, const GYRE_GLOBAL move *request, u32 what)
{
    GYRE_GLOBAL move *out = gyre_emit(gyre, moves);
    out->account = request->other;
    out->other = request->account;
    out->cents = request->cents;
    out->what = what;
    return GYRE_NO_REPLY;
}

/* Accounts that pay each other. An account that is empty may leave for another one. */
GYRE_KEYED_ACTOR_LIVES_TO(purses, move, purse, move_ports, purse, account)
{
    if (request->what == MOVE_PAYS) {
        if (state->cents < request->cents)
            return gyre_fail(gyre, 1, "not enough");
        state->cents -= request->cents;
        state->moves++;
        return pass(gyre, ports, request, MOVE_ARRIVES);
    }
    if (request->what == MOVE_ARRIVES && state->cents + request->cents > PURSE_MOST)
        return pass(gyre, ports, request, MOVE_RETURNS);
    if (request->what == MOVE_CLOSES) {
        if (state->cents != 0)
            return gyre_fail(gyre, 3, "not empty");
        gyre_forget(gyre);
    } else if (request->what != MOVE_TELLS) {
        state->cents += request->cents;
        state->moves++;
    }
    if (request->what == MOVE_RETURNS)
        return gyre_fail(gyre, 2, "it takes no more");
    *reply = *state;
    return GYRE_REPLY;
}

GYRE_BORN(purses)
{
    state->born = request->account;
}

GYRE_PASSIVE(purses)
{
    return state->cents == 0 ? GYRE_LEAVES : GYRE_STAYS;
}
