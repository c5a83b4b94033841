/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels at both ends of links by key. */
#include <gyre/kernel.h>

#include "keyed.h"

#define FEED_PORTS(PORT) PORT(mark, out, 1)
GYRE_PORTS(feed_ports, FEED_PORTS)

GYRE_KERNEL_TO(keyed_feed, mark, gyre_none, feed_ports)
{
    *gyre_emit(gyre, out) = *request;
    return GYRE_NO_REPLY;
}

/* Says which block sent a mark. */
GYRE_KERNEL_TO(keyed_source, mark, gyre_none, feed_ports)
{
    GYRE_GLOBAL mark *out = gyre_emit(gyre, out);
    *out = *request;
    out->what = (u32)gyre_block(gyre);
    return GYRE_NO_REPLY;
}

#define ORDER_BUFFERS(IN, INOUT) INOUT(u64, last) INOUT(u64, owner)
GYRE_BUFFERS(order_buffers, ORDER_BUFFERS)

/* No keyed actor: it tells when marks of a key and a sending block are out of order, or come to two blocks. */
GYRE_KERNEL_WITH(keyed_order, mark, marks, gyre_none, order_buffers)
{
    GYRE_GLOBAL u64 *last = &buffers->last[request->key * MARK_SENDERS + request->what % MARK_SENDERS];
    GYRE_GLOBAL u64 *owner = &buffers->owner[request->key];
    if (*last >= request->number)
        return gyre_fail(gyre, 1, "out of order");
    if (*owner != 0 && *owner != gyre_block(gyre) + 1)
        return gyre_fail(gyre, 2, "another block has this key");
    *last = request->number;
    *owner = gyre_block(gyre) + 1;
    reply->block = gyre_block(gyre);
    return GYRE_REPLY;
}

#define COUNT_BUFFERS(IN, INOUT) INOUT(u64, counts)
GYRE_BUFFERS(count_buffers, COUNT_BUFFERS)

/* Counts the messages of each key. No two of a key are handled at the same time, so it needs no atomic operation. */
GYRE_KERNEL_WITH(keyed_count, mark, marks, gyre_none, count_buffers)
{
    reply->count = ++buffers->counts[request->key];
    reply->block = gyre_block(gyre);
    return GYRE_REPLY;
}

#define LAG_BUFFERS(IN, INOUT) INOUT(u32, words)
GYRE_BUFFERS(lag_buffers, LAG_BUFFERS)

/* A block that handles MARK_WAITS stays there until another one handles MARK_RELEASES. Tells how many wait, or have waited. */
GYRE_KERNEL_WITH(keyed_lag, mark, marks, gyre_none, lag_buffers)
{
    GYRE_GLOBAL u32 *waiting = &buffers->words[0], *released = &buffers->words[1];
    if (request->what == MARK_RELEASES)
        gyre_atomic_add(released, (u32)1);
    if (request->what == MARK_WAITS) {
        gyre_atomic_add(waiting, (u32)1);
        while (gyre_atomic_add(released, (u32)0) == 0)
            ;
    }
    reply->count = gyre_atomic_add(waiting, (u32)0);
    reply->block = gyre_block(gyre);
    return GYRE_REPLY;
}

#define PRICED(FIELD) FIELD(f32, price) FIELD(u8, much[65]) FIELD(utf8, note) FIELD(guest, who)
GYRE_MESSAGE_TAIL(priced_mark, PRICED, 64)
#define PRICED_PORTS(PORT) PORT(priced_mark, out, 1)
GYRE_PORTS(priced_ports, PRICED_PORTS)

/* A message with fields that cannot be keys. */
GYRE_KERNEL_TO(keyed_priced, priced_mark, gyre_none, priced_ports)
{
    *gyre_emit(gyre, out) = *request;
    return GYRE_NO_REPLY;
}
