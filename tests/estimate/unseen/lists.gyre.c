/* SPDX-License-Identifier: Apache-2.0 */
/* An actor that keeps the most recent keys in front: a chain of indices in its state. */
#include <gyre/kernel.h>

#define USE(FIELD) FIELD(u32, key)
GYRE_MESSAGE(use, USE)
#define USED(FIELD) FIELD(u32, place)
GYRE_MESSAGE(used, USED)
#define NODE(FIELD) FIELD(u32, key) FIELD(u32, next)
GYRE_MESSAGE(node, NODE)
#define CHAIN(FIELD) FIELD(u32, first) FIELD(u32, count) FIELD(node, nodes[64])
GYRE_MESSAGE(chain, CHAIN)

GYRE_ACTOR(lists, use, used, chain)
{
    u32 at = state->first, before = 0, place = 0;
    while (place < state->count && state->nodes[at].key != request->key) {
        before = at;
        at = state->nodes[at].next;
        place++;
    }
    if (place == state->count && state->count < 64) {
        at = state->count++;
        state->nodes[at].key = request->key;
        state->nodes[at].next = state->first;
        state->first = at;
    } else if (place > 0 && place < state->count) {
        state->nodes[before].next = state->nodes[at].next;
        state->nodes[at].next = state->first;
        state->first = at;
    }
    reply->place = place;
    return GYRE_REPLY;
}
