/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_ORDER_BOOK_H
#define GYRE_KERNELS_ORDER_BOOK_H

#include <gyre/message.h>

#define BOOK_DEPTH   16
#define ORDER(FIELD) FIELD(u32, id) FIELD(u32, price) FIELD(u32, quantity)
GYRE_MESSAGE(order, ORDER)
#define BOOK_REQUEST(FIELD) FIELD(u8, action) FIELD(u8, side) FIELD(order, order)
GYRE_MESSAGE(book_request, BOOK_REQUEST)
#define FILL(FIELD) FIELD(u32, id) FIELD(u32, price) FIELD(u32, quantity)
GYRE_MESSAGE(fill, FILL)
#define BOOK_REPLY(FIELD)                                                                                    \
    FIELD(u32, fill_count)                                                                                   \
    FIELD(u32, rested) FIELD(u32, best_bid) FIELD(u32, best_ask) FIELD(u64, volume) FIELD(fill, fills[8])
GYRE_MESSAGE(book_reply, BOOK_REPLY)
#define BOOK_SIDE(FIELD) FIELD(u32, count) FIELD(order, orders[BOOK_DEPTH])
GYRE_MESSAGE(book_side, BOOK_SIDE)
#define BOOK_STATE(FIELD) FIELD(book_side, sides[2]) FIELD(u64, volume) FIELD(u32, refused)
GYRE_MESSAGE(book_state, BOOK_STATE)

#endif
