/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages beyond one line, actors, block kernels, and queues that several blocks share. Included by
 * cuda_resident.h.
 *
 * A window of requests is copied into the stage (cuda_move.h), handled there, and the replies are copied
 * back.
 */
#ifndef GYRE_DIALECT_CUDA_STAGE_H
#define GYRE_DIALECT_CUDA_STAGE_H

#define GYRE_ACTOR_LOOK_NS 100000 /* between two looks for another order */

/** What window sizes follow from a kernel's types. */
template <class K> struct gyre_stage_ {
    enum {
        request_chunks = (GYRE_SLOT_HEADER_SIZE + K::request_size + 15) / 16,
        reply_payload = K::reply_size > GYRE_SLOT_SMALL_PAYLOAD ? K::reply_size : GYRE_SLOT_SMALL_PAYLOAD,
        reply_chunks = (GYRE_SLOT_HEADER_SIZE + reply_payload + 15) / 16,
        scratch_chunks = K::form == 2 ? (K::scratch_size + 15) / 16 : 0
    };
};

/* ---- handling ---- */

/* A request that does not get to the handler. Returns 1 when it is settled that way. */
template <class K>
GYRE_HELPER gyre_u32 gyre_settle_(const gyre_slot *in, gyre_slot *out, gyre_u64 index, gyre_u64 drop_before,
                                  int writes)
{
    const int dropped = index < drop_before,
              wrong =
                  GYRE_LENGTH_WRONG_(in->length, K::request_least, K::request_size, GYRE_FIRST_WORD_(in + 1));
    if (writes && dropped) {
        out->length = 0;
        out->info = GYRE_OUTCOME_DROPPED;
    } else if (writes && wrong) {
        gyre_write_failure_(out, GYRE_FAILURE_LENGTH, GYRE_LENGTH_TEXT_);
    }
    return dropped || wrong;
}

template <class K> GYRE_HELPER gyre_u32 gyre_reply_length_(const gyre_slot *out)
{
    return GYRE_REPLY_LENGTH_(K::reply_least, K::reply_size, GYRE_FIRST_WORD_(out + 1));
}

/* One message by one thread. Returns 1 when the handler failed it. */
template <class K>
GYRE_HELPER gyre_u32 gyre_handle_staged_(const gyre_stage_place *stage, gyre_u32 slot, gyre_u64 index,
                                         gyre_u64 drop_before, void *state, const void *buffers,
                                         gyre_context *gyre)
{
    const gyre_slot *in = (const gyre_slot *)(stage->requests + slot * gyre_stage_<K>::request_chunks);
    gyre_slot *out = (gyre_slot *)(stage->replies + slot * gyre_stage_<K>::reply_chunks);
    gyre_u32 failed = 0;
    if (!gyre_settle_<K>(in, out, index, drop_before, 1)) {
        gyre->failed = 0;
        GYRE_HEADER_AT_(gyre, index);
        GYRE_STAMP_BEGIN_(gyre, started);
        const int result = K::handle(in + 1, out + 1, state, 0, buffers, gyre);
        failed = gyre_lane_end_(gyre, out, result, gyre_reply_length_<K>(out));
        GYRE_STAMP_END_(gyre, index, started);
    }
    out->sequence = index + 1;
    return failed;
}

/* One message by all threads. Returns, in thread 0, whether it failed. */
template <class K>
GYRE_HELPER gyre_u32 gyre_handle_block_(const gyre_stage_place *stage, gyre_u64 index, gyre_u64 drop_before,
                                        void *state, void *scratch, const void *buffers, gyre_context *gyre)
{
    const gyre_slot *in = (const gyre_slot *)stage->requests;
    gyre_slot *out = (gyre_slot *)stage->replies;
    gyre_u32 failed = 0;
    if (!gyre_settle_<K>(in, out, index, drop_before, gyre->lane == 0)) {
        gyre_block_begin_(gyre);
        __syncthreads();
        GYRE_HEADER_AT_(gyre, index);
        GYRE_STAMP_BEGIN_(gyre, started);
        const int result = K::handle(in + 1, out + 1, state, scratch, buffers, gyre);
        failed = gyre_block_end_(gyre, out, result, gyre_reply_length_<K>(out));
        if (gyre->lane == 0)
            GYRE_STAMP_END_(gyre, index, started);
    }
    if (gyre->lane != 0)
        return 0;
    out->sequence = index + 1;
    return failed;
}

/*
 * An actor's messages, one after the other, by one thread. It looks for another order between messages, but
 * not more often than every GYRE_ACTOR_LOOK_NS, and then leaves the rest of the window for later. Returns how
 * many it handled.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_handle_actor_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                        const void *buffers, gyre_context *gyre)
{
    gyre_u64 looked = gyre_time_ns(gyre);
    for (gyre_u32 slot = 0; slot < view->count; slot++) {
        view->failed += gyre_handle_staged_<K>(&view->stage, slot, view->claimed + slot, view->drop_before,
                                               arguments.state, buffers, gyre);
        const gyre_u64 now = gyre_time_ns(gyre);
        if (now - looked < GYRE_ACTOR_LOOK_NS)
            continue;
        looked = now;
        if (gyre_order_changed_(arguments, view))
            return slot + 1;
    }
    return view->count;
}

/* The window that lies in the stage. Returns how many messages this thread failed. */
template <class K>
GYRE_HELPER gyre_u32 gyre_handle_window_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                         gyre_chunk *memory, const void *buffers, gyre_context *gyre)
{
    GYRE_QUEUE_BEGIN_(gyre, &view->served[view->go - 1]);
    if (K::form == 2)
        return gyre_handle_block_<K>(&view->stage, view->claimed, view->drop_before, arguments.state, memory,
                                     buffers, gyre);
    if (K::form == 3) {
        if (threadIdx.x == 0)
            view->count = gyre_handle_actor_<K>(arguments, view, buffers, gyre);
        return 0;
    }
    if (threadIdx.x >= view->count)
        return 0;
    return gyre_handle_staged_<K>(&view->stage, threadIdx.x, view->claimed + threadIdx.x, view->drop_before,
                                  arguments.state, buffers, gyre);
}

template <class K>
GYRE_HELPER void gyre_serve_staged_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                    gyre_chunk *memory, const void *buffers, gyre_context *gyre)
{
    const gyre_u32 wanted = K::form == 2 ? 1 : K::form == 3 ? GYRE_ACTOR_WINDOW : blockDim.x;
    gyre_stage_make_(arguments, view, memory, gyre_stage_<K>::scratch_chunks, wanted,
                     gyre_stage_<K>::request_chunks, gyre_stage_<K>::reply_chunks);
    while (gyre_next_window_(arguments, view))
        gyre_end_window_(arguments, view, gyre_handle_window_<K>(arguments, view, memory, buffers, gyre));
}

template <class K>
GYRE_HELPER void gyre_serve_lanes_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                   gyre_chunk *memory, const void *buffers)
{
    constexpr int lines = K::form == 1 && K::request_size <= GYRE_SLOT_SMALL_PAYLOAD &&
                          K::reply_size <= GYRE_SLOT_SMALL_PAYLOAD;
    if constexpr (lines) {
        if (view->team_size == 1) {
            gyre_serve_lines_<K>(arguments, view, memory, buffers);
            return;
        }
    }
    gyre_context gyre;
    gyre_context_make_(&gyre, arguments, 0);
    if (K::form == 3)
        gyre.lane_count = 1; /* the other threads only help to move messages */
    gyre_serve_staged_<K>(arguments, view, memory, buffers, &gyre);
}

template <class K>
GYRE_HELPER void gyre_serve_block_(const gyre_resident_arguments &arguments, gyre_block_view *view,
                                   gyre_chunk *memory, const void *buffers)
{
    __shared__ gyre_block_shared shared;
    gyre_context gyre;
    gyre_context_make_(&gyre, arguments, &shared);
    gyre_serve_staged_<K>(arguments, view, memory, buffers, &gyre);
}

#endif
