/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a router of a keyed actor reads (cuda_keyed_routes.h): queues and, in files with GYRE_STAGE, rings of links. Source number n is one
 * router's alone. The places of a ring are given back as soon as their messages are passed on. Included by cuda_keyed_routes.h.
 */
#ifndef GYRE_DIALECT_CUDA_KEYED_SOURCES_H
#define GYRE_DIALECT_CUDA_KEYED_SOURCES_H

#if GYRE_STAGE
#define GYRE_KEYED_SOURCES_ (GYRE_QUEUES_MAX + GYRE_KEYED_INLETS_MOST)

/** A queue, or a ring of a link. */
struct gyre_keyed_source_ {
    const gyre_u8 *slots;
    gyre_u64 next, mask;
    gyre_u32 stride, number;
    gyre_u32 inlet; /* 1 + the number of the ring among the inlets; 0: it is a queue */
};

GYRE_HELPER gyre_u32 gyre_keyed_source_count_(const gyre_block_view *view, const gyre_keyed_links_ *links)
{
    return view->queue_count + (links->table ? links->inlet_count : 0);
}

GYRE_HELPER gyre_keyed_source_ gyre_keyed_source_of_(const gyre_block_view *view,
                                                     const gyre_keyed_links_ *links, gyre_u32 number)
{
    gyre_keyed_source_ source = {0, 0, 0, GYRE_LINE_SIZE, number, 0};
    if (number < view->queue_count) {
        const gyre_served *queue = &view->served[number];
        source.slots = queue->requests;
        source.next = queue->own.next;
        source.mask = queue->mask;
        return source;
    }
    const gyre_link_in_ *in = &links->inlets[number - view->queue_count];
    source.slots = in->slots;
    source.next = in->next;
    source.mask = in->mask;
    source.stride = in->stride;
    source.inlet = 1 + number - view->queue_count;
    return source;
}

/* Whether its slots have a quarter of that number. */
GYRE_HELPER gyre_u32 gyre_keyed_source_has_(const gyre_keyed_source_ &source, gyre_u32 part)
{
    return 16 * part < source.stride;
}

/* Slot `slot` of those from the next message on. */
GYRE_HELPER const gyre_u8 *gyre_keyed_source_at_(const gyre_keyed_source_ &source, gyre_u32 slot)
{
    return source.slots + ((source.next + slot) & source.mask) * source.stride;
}

/* Whether the slot whose first quarter is x, y has the message of this sequence. */
GYRE_HELPER gyre_u32 gyre_keyed_source_is_there_(const gyre_keyed_source_ &source, gyre_u64 x, gyre_u64 y,
                                                 gyre_u64 sequence)
{
    return source.inlet ? (gyre_u32)(y >> 32) == (gyre_u32)sequence : x == sequence;
}

/* Requests below it are to be dropped. */
GYRE_HELPER gyre_u64 gyre_keyed_source_drops_(const gyre_block_view *view, const gyre_keyed_source_ &source)
{
    return source.inlet ? 0 : *(const volatile gyre_u64 *)&view->served[source.number].dropping;
}

/* What a line says of a message: its kind, its queue, and its index or origin. */
GYRE_HELPER gyre_u32 gyre_keyed_source_kind_(const gyre_keyed_source_ &source)
{
    return source.inlet ? GYRE_KEYED_LINKED_ : 0;
}

GYRE_HELPER gyre_u32 gyre_keyed_source_which_(const gyre_keyed_source_ &source)
{
    return source.inlet ? 0 : source.number;
}

GYRE_HELPER gyre_u64 gyre_keyed_source_word_(const gyre_keyed_source_ &source, const gyre_chunk *cell,
                                             gyre_u64 index)
{
    return source.inlet ? cell->x : index;
}

GYRE_HELPER gyre_u32 gyre_keyed_is_index_(gyre_u32 kind)
{
    return kind != GYRE_KEYED_LINKED_;
}

/* The next `count` messages were passed on. Called by one thread. */
GYRE_HELPER void gyre_keyed_source_took_(gyre_block_view *view, gyre_keyed_links_ *links,
                                         const gyre_keyed_source_ &source, gyre_u32 count)
{
    if (!source.inlet) {
        view->served[source.number].own.next += count;
        return;
    }
    gyre_link_in_ *in = &links->inlets[source.inlet - 1];
    gyre_link_run_ run = {};
    if (!count)
        return;
    run.first = in->next;
    run.mask = in->mask;
    run.ring = in->ring;
    run.count = count;
    run.which = source.inlet - 1;
    in->next += count;
    gyre_near_store_(&in->ring->claimed, in->next);
    gyre_link_give_back_(links, run);
}

/* Looks for another order, and for requests to drop, now and then. Called by one thread. */
GYRE_HELPER void gyre_keyed_source_asks_(gyre_block_view *view, const gyre_keyed_source_ &source)
{
    if (source.inlet)
        gyre_ask_(view, GYRE_CUDA_LOOK_CLOCKS);
    else
        gyre_look_up_now_(view, &view->served[source.number]);
}
#else
#define GYRE_KEYED_SOURCES_ GYRE_QUEUES_MAX

/** A queue. */
struct gyre_keyed_source_ {
    const gyre_served *queue;
    gyre_u64 next;
    gyre_u32 number;
};

GYRE_HELPER gyre_u32 gyre_keyed_source_count_(const gyre_block_view *view, const gyre_keyed_links_ *)
{
    return view->queue_count;
}

GYRE_HELPER gyre_keyed_source_ gyre_keyed_source_of_(const gyre_block_view *view, const gyre_keyed_links_ *,
                                                     gyre_u32 number)
{
    const gyre_served *queue = &view->served[number];
    return {queue, queue->own.next, number};
}

GYRE_HELPER gyre_u32 gyre_keyed_source_has_(const gyre_keyed_source_ &, gyre_u32)
{
    return 1;
}

GYRE_HELPER const gyre_u8 *gyre_keyed_source_at_(const gyre_keyed_source_ &source, gyre_u32 slot)
{
    return (const gyre_u8 *)gyre_request_at_(source.queue, source.next + slot);
}

GYRE_HELPER gyre_u32 gyre_keyed_source_is_there_(const gyre_keyed_source_ &, gyre_u64 x, gyre_u64,
                                                 gyre_u64 sequence)
{
    return x == sequence;
}

GYRE_HELPER gyre_u64 gyre_keyed_source_drops_(const gyre_block_view *, const gyre_keyed_source_ &source)
{
    return *(const volatile gyre_u64 *)&source.queue->dropping;
}

GYRE_HELPER gyre_u32 gyre_keyed_source_kind_(const gyre_keyed_source_ &)
{
    return 0;
}

GYRE_HELPER gyre_u32 gyre_keyed_source_which_(const gyre_keyed_source_ &source)
{
    return source.number;
}

GYRE_HELPER gyre_u64 gyre_keyed_source_word_(const gyre_keyed_source_ &, const gyre_chunk *, gyre_u64 index)
{
    return index;
}

GYRE_HELPER gyre_u32 gyre_keyed_is_index_(gyre_u32)
{
    return 1;
}

GYRE_HELPER void gyre_keyed_source_took_(gyre_block_view *view, gyre_keyed_links_ *,
                                         const gyre_keyed_source_ &source, gyre_u32 count)
{
    view->served[source.number].own.next += count;
}

GYRE_HELPER void gyre_keyed_source_asks_(gyre_block_view *view, const gyre_keyed_source_ &source)
{
    gyre_look_up_now_(view, &view->served[source.number]);
}
#endif

#endif
