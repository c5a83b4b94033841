/* SPDX-License-Identifier: Apache-2.0 */
/* Sells from a stock; what is sold is taken off atomically. Planted: whether there is any is read plainly.
 *
 * expects: race
 * options: --state '{"left":100}'
 * request: {"pieces":1}
 * request: {"pieces":2}
 * request: {"pieces":3} */
#include <gyre/kernel.h>

#define SALE(FIELD) FIELD(u32, pieces)
GYRE_MESSAGE(sale, SALE)
#define STOCK(FIELD) FIELD(u32, left)
GYRE_MESSAGE(stock_state, STOCK)

GYRE_KERNEL_WITH(stock, sale, sale, stock_state, gyre_none)
{
    if (state->left < request->pieces) /* first */
        return gyre_fail(gyre, 1, "sold out");
    gyre_atomic_sub(&state->left, request->pieces); /* second */
    reply->pieces = request->pieces;
    return GYRE_REPLY;
}
