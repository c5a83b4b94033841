/* SPDX-License-Identifier: Apache-2.0 */
/* An actor that makes room in a list: each item moves to the place of the next one. */
#include <gyre/kernel.h>

#define WORK(FIELD) FIELD(u32, turns) FIELD(u32, seed)
GYRE_MESSAGE(work, WORK)
#define DONE(FIELD) FIELD(u32, value)
GYRE_MESSAGE(done, DONE)
#define ITEM(FIELD) FIELD(u32, id) FIELD(u32, price) FIELD(u32, quantity)
GYRE_MESSAGE(item, ITEM)
#define ITEMS(FIELD) FIELD(u32, count) FIELD(item, items[128])
GYRE_MESSAGE(items, ITEMS)

GYRE_ACTOR(actor_moves, work, done, items)
{
    const u32 end = request->turns < 127 ? request->turns : 127;
    const item first = state->items[0];
    for (u32 i = 0; i < end; i++)
        state->items[i] = state->items[i + 1];
    state->items[end] = first;
    state->count++;
    reply->value = state->items[0].price + state->count;
    return GYRE_REPLY;
}
