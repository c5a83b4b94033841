/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that go from key to key, and what they come to. The host reckons with the same expressions. */
#ifndef GYRE_CONFORMANCE_KEYED_PORTS_H
#define GYRE_CONFORMANCE_KEYED_PORTS_H

#include <gyre/message.h>

#define TRIP_FAN_MAX 4
#define TRIP(FIELD)                                                                                          \
    FIELD(u64, vertex)                                                                                       \
    FIELD(u64, seed) FIELD(u64, sum) FIELD(u32, vertices) FIELD(u32, hops) FIELD(u32, fan) FIELD(u32, what)
GYRE_MESSAGE(trip, TRIP)
#define VERTEX(FIELD) FIELD(u64, visits) FIELD(u64, mixed)
GYRE_MESSAGE(vertex, VERTEX)

/* What a trip does at a vertex, bits of `what`. */
#define TRIP_SPREADS                1 /* each of its messages leaves by a call of its own (GYRE_MORE) */
#define TRIP_FAILS                  2 /* at each eleventh vertex, with code TRIP_FAILED */
#define TRIP_STAYS                  4 /* seven times of eight it goes on to where it is */
#define TRIP_FAILED                 7
#define TRIP_IS_BAD(vertex_, what_) (((what_)&TRIP_FAILS) && (vertex_) % 11 == 5)

#define TRIP_MIX_(x)                    ((x)*0x9e3779b97f4a7c15 ^ ((x)*0x9e3779b97f4a7c15) >> 29)
#define TRIP_MIX(vertex_, seed_, hops_) TRIP_MIX_((vertex_)*31 + (seed_)*7 + (hops_) + 1)
#define TRIP_NEXT(vertex_, seed_, hops_, i_, vertices_, what_)                                               \
    (((what_)&TRIP_STAYS) && (hops_) % 8 ? (vertex_) : TRIP_ELSEWHERE_(vertex_, seed_, hops_, i_, vertices_))
#define TRIP_ELSEWHERE_(vertex_, seed_, hops_, i_, vertices_)                                                \
    ((TRIP_MIX_(TRIP_MIX(vertex_, seed_, hops_) + (i_)) >> 16) % (vertices_))

/* What a shopper pays at a stall, and the block that said it. */
#define PRICE(FIELD) FIELD(u64, shopper) FIELD(u64, stall) FIELD(u64, cents) FIELD(u32, block)
GYRE_MESSAGE(price, PRICE)
#define SPENT(FIELD) FIELD(u64, cents)
GYRE_MESSAGE(spent, SPENT)
#define STALL_CENTS(stall_) ((stall_)*7 + 1)

#define MOVE(FIELD) FIELD(u64, account) FIELD(u64, other) FIELD(i64, cents) FIELD(u32, what)
GYRE_MESSAGE(move, MOVE)
#define PURSE(FIELD) FIELD(i64, cents) FIELD(u64, moves) FIELD(u64, born)
GYRE_MESSAGE(purse, PURSE)
#define MOVE_PAYS    0 /* from `account` to `other` */
#define MOVE_ARRIVES 1
#define MOVE_RETURNS 2 /* it was not taken */
#define MOVE_FILLS   3 /* of a client, not from an account */
#define MOVE_TELLS   4
#define MOVE_CLOSES  5      /* and the account is forgotten */
#define PURSE_MOST   100000 /* an account takes no more */

#endif
