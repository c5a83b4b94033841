/* SPDX-License-Identifier: Apache-2.0 */
/* One message writes a price and raises a flag, others read the price when the flag is up. Planted: the flag is atomic,
 * and orders nothing but itself.
 *
 * expects: race
 * request: {"writes":1,"cents":250}
 * request: {"writes":0,"cents":0}
 * request: {"writes":0,"cents":0} */
#include <gyre/kernel.h>

#define PRICE(FIELD) FIELD(u32, writes) FIELD(u32, cents)
GYRE_MESSAGE(price, PRICE)
#define PRICES(FIELD) FIELD(u32, cents) FIELD(u32, flag)
GYRE_MESSAGE(prices, PRICES)

GYRE_KERNEL_WITH(publish, price, price, prices, gyre_none)
{
    reply->writes = request->writes;
    reply->cents = 0;
    if (request->writes) {
        state->cents = request->cents; /* first */
        gyre_atomic_store(&state->flag, 1u);
    } else if (gyre_atomic_load(&state->flag)) {
        reply->cents = state->cents; /* second */
    }
    return GYRE_REPLY;
}
