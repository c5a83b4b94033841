/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers with a mistake. */
#include <gyre/kernel.h>

#include "quote.h"

enum { VERSION = 2, RATES = 4 };
GYRE_CONSTANT u64 rates[RATES] = {19, 7, 0, 19};

/* a struct, a helper that is called as a field, and macros: names that two handlers in one unit have twice */
typedef struct room {
    u64 total, count;
} room;
#define RATE_OF(price) (rates[(price) % RATES])

GYRE_HELPER u64 total(u64 price)
{
    return price + price * RATE_OF(price) / 100;
}

GYRE_KERNEL(quote, quote_asked, quote_given)
{
    if (request->price % 7 == 3)
        return gyre_fail(gyre, 5, "a mistake");
    reply->total = total(request->price);
    reply->count = 0;
    reply->version = VERSION;
    return GYRE_REPLY;
}

GYRE_BLOCK_KERNEL(folded, quote_asked, quote_given, room)
{
    const u64 sum = gyre_block_sum_u64(gyre, gyre_lane(gyre));
    if (request->price % 7 == 3 && gyre_lane(gyre) == 1)
        return gyre_fail(gyre, 5, "a mistake");
    if (gyre_lane(gyre) == 0) {
        scratch->total = total(request->price);
        scratch->count = sum;
        reply->total = scratch->total;
        reply->count = scratch->count;
        reply->version = VERSION;
    }
    return GYRE_REPLY;
}

GYRE_KEYED_ACTOR(accounts, quote_asked, quote_given, quote_given, account)
{
    if (request->price % 7 == 3)
        return gyre_fail(gyre, 5, "a mistake");
    state->total += request->price;
    state->count++;
    state->version = VERSION;
    *reply = *state;
    return GYRE_REPLY;
}

#define KEPT_LIST(IN, INOUT) INOUT(u64, kept)
GYRE_BUFFERS(kept_buffers, KEPT_LIST)

GYRE_ACTOR(one_state, quote_asked, quote_given, quote_given)
{
    state->version = VERSION;
    *reply = *state;
    return GYRE_REPLY;
}

GYRE_KERNEL_WITH(one_buffer, quote_asked, quote_given, gyre_none, kept_buffers)
{
    reply->total = gyre_atomic_add(&buffers->kept[0], request->price);
    reply->count = 0;
    reply->version = VERSION;
    return GYRE_REPLY;
}
