/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers that crash. */
#include <gyre/kernel.h>

#include "quote.h"

GYRE_HELPER void crash(u64 price)
{
    u64 *nowhere = (u64 *)(price & 0);
    *nowhere = price;
}

GYRE_KERNEL(quote, quote_asked, quote_given)
{
    crash(request->price);
    reply->total = reply->count = 0;
    reply->version = 4;
    return GYRE_REPLY;
}

GYRE_KEYED_ACTOR(accounts, quote_asked, quote_given, quote_given, account)
{
    state->version = 4;
    crash(request->price);
    *reply = *state;
    return GYRE_REPLY;
}
