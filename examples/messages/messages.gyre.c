/* SPDX-License-Identifier: Apache-2.0 */
/* A handler for each kind of message: texts, batches, records within records. */
#include <gyre/kernel.h>
#include "messages.h"

/* Says it louder. */
GYRE_KERNEL(chat, line, answer)
{
    const GYRE_GLOBAL u8 *text = gyre_items(u8, request, request->text);
    reply->text = gyre_new(gyre, u8, reply, request->text.count);
    for (u32 i = 0; i < reply->text.count; i++) {
        const u8 letter = text[i];
        gyre_set(gyre, u8, reply, reply->text, i, letter >= 'a' && letter <= 'z' ? letter - 32 : letter);
        reply->words += letter != ' ' && (i == 0 || text[i - 1] == ' ');
    }
    return GYRE_REPLY;
}

/* All lanes of a block work on one batch. */
GYRE_BLOCK_KERNEL(ticks, batch, summary, gyre_none)
{
    const GYRE_GLOBAL tick *ticks = gyre_items(tick, request, request->ticks);
    f64 low = 1e300, high = -1e300;
    u64 volume = 0;
    for (u32 i = gyre_lane(gyre); i < request->ticks.count; i += gyre_lane_count(gyre)) {
        low = ticks[i].price < low ? ticks[i].price : low;
        high = ticks[i].price > high ? ticks[i].price : high;
        volume += ticks[i].size;
    }
    low = gyre_block_min_f64(gyre, low);
    high = gyre_block_max_f64(gyre, high);
    volume = gyre_block_sum_u64(gyre, volume);
    if (gyre_lane(gyre) == 0) {
        reply->low = low;
        reply->high = high;
        reply->volume = volume;
        reply->symbol = gyre_copy(gyre, u8, reply, request, request->symbol);
    }
    return GYRE_REPLY;
}

/* Adds an order up. Parts of a record within are read by the message that it is in. */
GYRE_KERNEL(orders, order, bill)
{
    reply->id = request->id;
    for (u32 i = 0; i < request->items.count; i++) {
        const item one = gyre_get(gyre, item, request, request->items, i);
        reply->total += one.price * (f64)one.pieces;
        reply->notes += one.notes.count;
    }
    reply->label = gyre_copy(gyre, u8, reply, request, request->to.street);
    return GYRE_REPLY;
}
