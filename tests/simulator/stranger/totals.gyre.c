/* SPDX-License-Identifier: Apache-2.0 */
/* Messages add to a state that they share, atomically all of them, and answer what no other message decides.
 *
 * expects: nothing
 * check: races,memory,deadlock,order
 * options: --blocks 2
 * request: {"shop":0,"cents":10}
 * request: {"shop":1,"cents":20}
 * request: {"shop":1,"cents":5}
 * request: {"shop":3,"cents":7} */
#include <gyre/kernel.h>

#define PAYMENT(FIELD) FIELD(u32, shop) FIELD(u32, cents)
GYRE_MESSAGE(payment, PAYMENT)
#define TOTALS(FIELD) FIELD(u64, cents[4]) FIELD(u32, largest) FIELD(u32, bits)
GYRE_MESSAGE(totals_state, TOTALS)

GYRE_KERNEL_WITH(totals, payment, payment, totals_state, gyre_none)
{
    if (!gyre_assert(gyre, request->shop < 4))
        return GYRE_FAILED;
    gyre_atomic_add(&state->cents[request->shop], (u64)request->cents);
    u32 largest = gyre_atomic_load(&state->largest);
    while (largest < request->cents) {
        const u32 before = gyre_atomic_compare_exchange(&state->largest, largest, request->cents);
        if (before == largest)
            break;
        largest = before;
    }
    gyre_atomic_or(&state->bits, 1u << request->shop);
    reply->shop = request->shop;
    reply->cents = request->cents;
    return GYRE_REPLY;
}
