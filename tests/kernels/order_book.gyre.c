/* SPDX-License-Identifier: Apache-2.0 */
/* An actor: an order book that matches, rests and cancels orders. */
#include <gyre/kernel.h>

#include "order_book.h"

enum side { BID, ASK };
enum action { PLACE, CANCEL, QUERY };
enum failure { BOOK_FULL = 1, NO_SUCH_ORDER = 2, BAD_ORDER = 3 };

/* Best first: the highest bid, the lowest ask; equal prices in order of arrival. */
GYRE_HELPER int ranks_before(u32 side, u32 price, u32 than)
{
    return side == BID ? price > than : price < than;
}

GYRE_HELPER void remove_at(GYRE_GLOBAL book_side *side, u32 index)
{
    side->count--;
    for (u32 i = index; i < side->count; i++)
        side->orders[i] = side->orders[i + 1];
}

GYRE_HELPER void insert(GYRE_GLOBAL book_side *side, u32 which, order placed)
{
    u32 at = side->count;
    while (at > 0 && ranks_before(which, placed.price, side->orders[at - 1].price)) {
        side->orders[at] = side->orders[at - 1];
        at--;
    }
    side->orders[at] = placed;
    side->count++;
}

/* Trades `placed` against the other side, as far as prices cross; returns how many fills were written. */
GYRE_HELPER u32 match(GYRE_GLOBAL book_state *book, u32 side, order *placed, GYRE_GLOBAL fill *fills)
{
    GYRE_GLOBAL book_side *other = &book->sides[1 - side];
    u32 count = 0;
    while (placed->quantity > 0 && other->count > 0 && count < 8) {
        const order best = other->orders[0];
        if (ranks_before(1 - side, best.price, placed->price) || best.price == placed->price) {
            const u32 traded = best.quantity < placed->quantity ? best.quantity : placed->quantity;
            fills[count].id = best.id;
            fills[count].price = best.price;
            fills[count].quantity = traded;
            count++;
            placed->quantity -= traded;
            book->volume += traded;
            other->orders[0].quantity -= traded;
            if (other->orders[0].quantity == 0)
                remove_at(other, 0);
        } else {
            break;
        }
    }
    return count;
}

GYRE_HELPER int cancel(GYRE_GLOBAL book_side *side, u32 id)
{
    for (u32 i = 0; i < side->count; i++) {
        if (side->orders[i].id == id) {
            remove_at(side, i);
            return 1;
        }
    }
    return 0;
}

GYRE_ACTOR(order_book, book_request, book_reply, book_state)
{
    const u32 side = request->side;
    order placed = request->order;
    u32 fill_count = 0;
    if (side > ASK || request->action > QUERY)
        return gyre_fail(gyre, BAD_ORDER, "no such side or action");
    for (u32 i = 0; i < 8; i++) {
        reply->fills[i].id = 0;
        reply->fills[i].price = 0;
        reply->fills[i].quantity = 0;
    }
    if (request->action == CANCEL && !cancel(&state->sides[side], placed.id)) {
        state->refused++;
        return gyre_fail(gyre, NO_SUCH_ORDER, "no such order");
    }
    if (request->action == PLACE) {
        if (!gyre_assert(gyre, placed.quantity > 0))
            return GYRE_FAILED;
        fill_count = match(state, side, &placed, reply->fills);
        if (placed.quantity > 0 && state->sides[side].count == BOOK_DEPTH) {
            state->refused++;
            return gyre_fail(gyre, BOOK_FULL, "the book is full");
        }
        if (placed.quantity > 0)
            insert(&state->sides[side], side, placed);
    }
    reply->fill_count = fill_count;
    reply->rested = request->action == PLACE ? placed.quantity : 0;
    reply->best_bid = state->sides[BID].count ? state->sides[BID].orders[0].price : 0;
    reply->best_ask = state->sides[ASK].count ? state->sides[ASK].orders[0].price : 0;
    reply->volume = state->volume;
    return GYRE_REPLY;
}
