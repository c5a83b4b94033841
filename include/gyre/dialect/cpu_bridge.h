/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves queues whose messages are stored back to back (bridged queues), on the CPU; ring_layout.h describes the
 * layout. Included by c11.h.
 *
 * A reply is built where the client will read it: at the end of the worker's track (its part of the reply bytes). A
 * request is taken up only when the track has room for the largest reply.
 */
#ifndef GYRE_DIALECT_CPU_BRIDGE_H
#define GYRE_DIALECT_CPU_BRIDGE_H

/** Returns the message of a slot. Whatever place the slot names, the returned bytes lie inside the ring. */
GYRE_INLINE_ const void *gyre_bridged_request_(const gyre_cpu_bridge *bridge, const gyre_slot *in,
                                               gyre_u32 length)
{
    if (!bridge->requests || length <= GYRE_SLOT_SMALL_PAYLOAD)
        return in + 1;
    gyre_place place;
    memcpy(&place, in + 1, sizeof place);
    return bridge->requests + GYRE_BRIDGE_AT(place.position, bridge->request_bytes);
}

/** Whether the track has room for a reply of `need` bytes. Pairs with the client's release of the tail. */
GYRE_INLINE_ int gyre_bridged_fits_(gyre_cpu_bridge *bridge, gyre_u64 need)
{
    if (bridge->head + need - bridge->tail_seen > bridge->reply_bytes)
        bridge->tail_seen = __atomic_load_n(bridge->tail, __ATOMIC_ACQUIRE);
    return bridge->head + need - bridge->tail_seen <= bridge->reply_bytes;
}

/**
 * Returns room for the reply to `index`, and its place; NULL: there is no room now. A full track may have to wait for
 * this very request. Then the reply gets the spare place, because the client has received the reply that lay there.
 */
GYRE_INLINE_ void *gyre_bridged_room_(gyre_cpu_bridge *bridge, gyre_u64 index, gyre_u32 reply_size,
                                      gyre_place *place)
{
    place->position = bridge->head;
    place->track = bridge->track;
    if (gyre_bridged_fits_(bridge, GYRE_BRIDGE_UNITS(reply_size)))
        return bridge->replies + GYRE_BRIDGE_AT(bridge->head, bridge->reply_bytes);
    place->track = GYRE_TRACK_SPARE;
    return __atomic_load_n(bridge->received, __ATOMIC_ACQUIRE) == index ? bridge->spare : 0;
}

/* Ends a reply that the handler built: a short reply goes into the slot. */
GYRE_INLINE_ void gyre_bridged_reply_(gyre_cpu_bridge *bridge, gyre_slot *out, const void *reply,
                                      const gyre_place *place, gyre_u32 length)
{
    out->length = length;
    out->info = GYRE_OUTCOME_REPLY;
    if (reply == out + 1)
        return;
    if (length <= GYRE_SLOT_SMALL_PAYLOAD) {
        memcpy(out + 1, reply, length);
        return;
    }
    memcpy(out + 1, place, sizeof *place);
    if (place->track != GYRE_TRACK_SPARE)
        bridge->head += GYRE_BRIDGE_UNITS(length);
}

/* Completes a request as gyre_complete_ does. Returns 0 when there is no room for the reply. */
GYRE_INLINE_ int gyre_complete_bridged_(gyre_cpu_run *run, const gyre_slot *in, gyre_slot *out,
                                        gyre_u64 index, const gyre_cpu_sizes *sizes, gyre_cpu_handle handle)
{
    gyre_cpu_bridge *bridge = run->bridge;
    gyre_context *context = run->context;
    /* read once, and atomic, as in gyre_complete_: the client may take the request back now */
    const gyre_u32 length = __atomic_load_n(&in->length, __ATOMIC_RELAXED);
    const void *request = gyre_bridged_request_(bridge, in, length);
    gyre_place place = {0, 0, 0};
    /* if the sender took the request back, its bytes belong to another request by now */
    const gyre_u32 said = length > sizes->request ? 0 : *(const gyre_u32 *)request;
    if (GYRE_LENGTH_WRONG_(length, sizes->request_least, sizes->request, said)) {
        __atomic_thread_fence(__ATOMIC_ACQUIRE); /* as in gyre_complete_ */
        if (in->info == GYRE_REQUEST_ANSWERED)   /* answered by a worker that died since */
            return 1;
        gyre_write_failure_(out, GYRE_FAILURE_LENGTH, GYRE_LENGTH_TEXT_);
        run->failed++;
        return 1;
    }
    void *reply = bridge->replies ? gyre_bridged_room_(bridge, index, sizes->reply, &place) : out + 1;
    if (!reply)
        return 0;
    const int result = handle(request, reply, run->state, 0, run->buffers, context);
    if (context->failed) {
        gyre_write_failure_(out, context->fail_code, context->fail_text);
        context->failed = 0;
        run->failed++;
    } else if (result == GYRE_OUTCOME_REPLY && sizes->reply) {
        const gyre_u32 used = *(const gyre_u32 *)reply;
        gyre_bridged_reply_(bridge, out, reply, &place,
                            GYRE_REPLY_LENGTH_(sizes->reply_least, sizes->reply, used));
    } else {
        out->length = 0;
        out->info = GYRE_OUTCOME_NO_REPLY;
    }
    return 1;
}

/*
 * Runs the handler as gyre_run_ does. It is one function for each kernel of a file: the handler is called, so that its
 * code is not there twice.
 */
static __attribute__((noinline, unused)) gyre_u64
gyre_run_bridged_(gyre_cpu_run *run, const gyre_cpu_sizes *sizes, gyre_cpu_handle handle)
{
    const gyre_u64 first = run->first, end = first + run->limit;
    gyre_u64 index = first;
    if (GYRE_HEADED) {
        run->context->header = 0;
        run->context->header_size = run->header_size;
    }
    run->context->foreign = 0; /* queues of other programs have no bridge */
    while (index != end) {
        const gyre_slot *in = (const gyre_slot *)(run->requests + (index & run->mask) * run->request_stride);
        gyre_slot *out = (gyre_slot *)(run->replies + (index & run->mask) * run->reply_stride);
        /* pairs with the client's release of the request's sequence */
        if (__atomic_load_n(&in->sequence, __ATOMIC_ACQUIRE) != index + 1)
            break;
        if (__builtin_expect(index < __atomic_load_n(&run->host->drop_before, __ATOMIC_RELAXED), 0)) {
            out->length = 0;
            out->info = GYRE_OUTCOME_DROPPED;
        } else {
            if (GYRE_HEADED && run->headers)
                run->context->header = run->headers + (index & run->mask) * run->header_size;
            const gyre_u64 started_ns = GYRE_IS_TIMED_(run, index) ? gyre_look_(run, index) : 0;
            if (!gyre_complete_bridged_(run, in, out, index, sizes, handle))
                break;
            if (GYRE_IS_TIMED_(run, index))
                gyre_stamp_(run, index, started_ns);
        }
        /* pairs with the client's acquire of the reply's sequence */
        __atomic_store_n(&out->sequence, ++index, __ATOMIC_RELEASE);
        /* relaxed: both words only say "come back soon" */
        if (__atomic_load_n(run->command, __ATOMIC_RELAXED) != run->expected ||
            __atomic_load_n(&run->host->waiting, __ATOMIC_RELAXED))
            break;
    }
    return index - first;
}

#endif
