/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The quick way of an actor's messages that come by links. One thread handles them, so each step waits for the one before, and
 * most messages need few of the general way's (gyre_link_handle_): their handler fails nothing and answers nothing, and they belong to
 * the flow of the message before, or go on as the only message of their own flow. Included by cuda_links.h.
 *
 * What a run needs is in registers, and the header of the next message is read while this one is handled. Any other message is settled the
 * general way. It is for files without headers, times, seals and GYRE_MORE, and for kernels that have no memory of flows and send to no
 * topic. Where flows have quotas, whether a flow is over its quota is asked once for neighbours of it, and messages that emit several go the
 * general way, which looks at the quota.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_LEAN_H
#define GYRE_DIALECT_CUDA_LINK_LEAN_H

#ifndef GYRE_LINK_LEAN
#define GYRE_LINK_LEAN 1
#endif

#if GYRE_LIMITED
#define GYRE_LEAN_AGAIN_ GYRE_AGAIN
#define GYRE_LEAN_MOST   1 /* messages that one of several may emit here */
#else
#define GYRE_LEAN_AGAIN_ 0
#define GYRE_LEAN_MOST   0xffffffffu
#endif

template <class K> GYRE_HELPER constexpr bool gyre_link_leans_()
{
    return GYRE_LINK_LEAN && K::gyre_its_kernel_form_ == 3 && !GYRE_HEADED && !GYRE_TIMED && !GYRE_SEALED &&
           !GYRE_LEAN_AGAIN_ && !GYRE_LINK_JOINS_(K) && !GYRE_ASKS;
}

/* Whether the run of the block may go the quick way. */
template <class K> GYRE_HELPER gyre_u32 gyre_link_may_lean_(const gyre_link_view_ *links)
{
    gyre_u32 may = links->run.from == GYRE_RUN_LINK && !links->needs && !links->branch_count;
#pragma unroll
    for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++)
        may = may && links->outs[i].use != GYRE_PORT_TOPIC;
    return may;
}

/** What the thread knows of the group of its run (cuda_link_group.h) without a look at it. */
struct gyre_lean_ {
    gyre_link_group_ *group;
    gyre_chunk *cell; /* of the last message that was counted here */
    gyre_u64 key;     /* of the group's flow; all bits: there is none */
#if GYRE_LIMITED
    gyre_u64 asked; /* the flow that was asked whether it is over its quota, */
    gyre_u32 over;  /* and what it said */
#endif
    gyre_u32 more, number;
    gyre_u32 counted; /* more, number and cell are not in the group yet */
};

template <class K> GYRE_HELPER void gyre_lean_write_back_(gyre_lean_ *lean)
{
    if (!lean->counted)
        return;
    lean->group->more += lean->more;
    lean->group->number = lean->number;
    lean->group->out = (gyre_slot *)(lean->cell + gyre_stage_<K>::request_chunks);
    lean->more = lean->counted = 0;
}

/* Counts a message that emitted `sent`, and is one of several of its flow. */
template <class K>
GYRE_HELPER void gyre_lean_count_(const gyre_link_view_ *links, gyre_lean_ *lean, gyre_chunk *cell,
                                  gyre_u64 origin, gyre_u32 number, gyre_u32 sent)
{
    if (GYRE_FLOW_KEY_(origin) != lean->key) {
        gyre_lean_write_back_<K>(lean);
        gyre_group_close_(links);
        lean->group->flow = gyre_flow_of_(links, origin);
        lean->group->origin = origin;
        lean->group->more = 0;
        lean->key = GYRE_FLOW_KEY_(origin);
    }
    lean->more += sent - 1;
    lean->number = number;
    lean->cell = cell;
    lean->counted = 1;
}

/* Settles a message whose handler has returned `result` the general way. Returns 1 when it failed. */
template <class K>
GYRE_HELPER gyre_u32 gyre_lean_settle_(const gyre_link_view_ *links, gyre_lean_ *lean, gyre_chunk *cell,
                                       gyre_link_message_ *message, gyre_cuda_port *ports, int result,
                                       gyre_context *gyre)
{
    gyre_slot *out = (gyre_slot *)(cell + gyre_stage_<K>::request_chunks);
    gyre_lean_write_back_<K>(lean);
    gyre_lane_end_(gyre, out, result, gyre_reply_length_<K>(out));
    GYRE_LINK_NOTE_AGAIN_(message, gyre);
    gyre_link_settle_<K>(links, message, ports, out);
    lean->key = lean->group->flow ? GYRE_FLOW_KEY_(lean->group->origin) : ~(gyre_u64)0;
#if GYRE_LIMITED
    lean->asked = ~(gyre_u64)0;
#endif
    return out->info == GYRE_OUTCOME_FAILED;
}

/* As gyre_link_place_, by what is in registers: where each port's next message goes. */
template <class K>
GYRE_HELPER void gyre_lean_place_(const gyre_link_view_ *links, const gyre_cuda_port *ports,
                                  const gyre_u32 *use, gyre_u64 *next, gyre_u64 origin)
{
#pragma unroll
    for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++) {
        const gyre_cuda_port_type type = K::gyre_its_ports_::of(i);
        const gyre_u32 emitted = use[i] == GYRE_PORT_UNWIRED ? 0 : ports[i].emitted;
#pragma unroll 1
        for (gyre_u32 k = 0; k < emitted && use[i] == GYRE_PORT_LINKED; k++) {
            gyre_u8 *message =
                ports[i].slots + (gyre_u64)(((gyre_u32)next[i] + k) & ports[i].mask) * ports[i].stride;
            gyre_link_slot *slot = (gyre_link_slot *)message;
            slot->origin = origin;
            slot->length = type.least == type.size ? type.size : gyre_link_length_(&links->outs[i], message);
        }
        next[i] += emitted;
    }
}

/* Whether no handler is called for the message, because its flow is over its quota. */
GYRE_HELPER gyre_u32 gyre_lean_is_over_(const gyre_link_view_ *links, gyre_lean_ *lean, gyre_u64 origin)
{
#if GYRE_LIMITED
    if (origin & (GYRE_ORIGIN_TAP | GYRE_ORIGIN_SOLE))
        return 0;
    if (GYRE_FLOW_KEY_(origin) != lean->asked) {
        lean->asked = GYRE_FLOW_KEY_(origin);
        lean->over = gyre_near_half_load_(&gyre_flow_of_(links, origin)->over);
    }
    return lean->over;
#else
    return 0;
#endif
}

/* Makes the context of a message of a link. `index`: in its ring. */
GYRE_HELPER void gyre_lean_begin_(const gyre_link_view_ *links, gyre_u64 origin, gyre_u64 index,
                                  gyre_context *gyre)
{
    gyre->failed = 0;
    gyre->origin = origin;
    gyre->index = index;
    gyre->clears = 0;
    gyre->entry = origin & GYRE_ORIGIN_TAP ? 0 : gyre_entry_of_(links, origin);
#if GYRE_LIMITED
    gyre->again = gyre->turn = 0;
    gyre->memory = 0;
    gyre->memory_size = 0;
#endif
}

#if GYRE_POOLS
/*
 * Block kernels that are members of pools: whether messages of K may go a quick way of their own, in which thread 0 accounts for
 * what all threads handled. Tasks of a microsecond waited longer for the general way than for their handler.
 */
template <class K> GYRE_HELPER constexpr bool gyre_link_leans_block_()
{
    return GYRE_LINK_LEAN && K::gyre_its_kernel_form_ == 2 && !GYRE_HEADED && !GYRE_TIMED && !GYRE_SEALED &&
           !GYRE_LINK_REPEATS_(K) && !GYRE_LINK_JOINS_(K) && !GYRE_ASKS;
}

/*
 * Whether all threads may call the handler of the message in `cell`: it is whole, and belongs to a flow that is not over its quota.
 * Thread 0 asks about the quota, once for neighbours of one flow. Returns the same to all threads.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_lean_goes_(const gyre_link_view_ *links, gyre_lean_ *lean, const gyre_chunk *cell)
{
    const gyre_slot *in = (const gyre_slot *)cell;
    const gyre_u64 origin = cell[0].x;
    const gyre_u32 length = (gyre_u32)cell[0].y, said = GYRE_FIRST_WORD_(in + 1);
    if (!origin || origin & GYRE_ORIGIN_TAP ||
        GYRE_LENGTH_WRONG_(length, K::gyre_its_request_least_, K::gyre_its_request_size_, said))
        return 0;
    if (origin & GYRE_ORIGIN_SOLE || GYRE_FLOW_KEY_(origin) == lean->asked)
        return origin & GYRE_ORIGIN_SOLE || !lean->over;
    const gyre_u32 over = threadIdx.x == 0 ? gyre_near_half_load_(&gyre_flow_of_(links, origin)->over) : 0;
    lean->asked = GYRE_FLOW_KEY_(origin);
    lean->over = (gyre_u32)__syncthreads_or((int)over);
    return !lean->over;
}

/*
 * Accounts for a message that all threads have handled, the general way, except when nothing is to be told but that it was handled. Returns
 * 1 when it failed. Called by thread 0.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_lean_block_end_(gyre_link_view_ *links, gyre_lean_ *lean, gyre_chunk *cell,
                                          gyre_u32 number, gyre_cuda_port *ports, gyre_context *gyre)
{
    gyre_slot *out = (gyre_slot *)(cell + gyre_stage_<K>::request_chunks);
    gyre_link_message_ message = {};
    message.origin = cell[0].x;
    message.index = links->run.first + number;
    gyre_lean_write_back_<K>(lean);
    GYRE_LINK_NOTE_AGAIN_(&message, gyre);
    gyre_link_settle_<K>(links, &message, ports, out);
    lean->key = links->group->flow ? GYRE_FLOW_KEY_(links->group->origin) : ~(gyre_u64)0;
    gyre_link_place_<K>(links, ports, message.next);
    links->to[number] = message.to;
    return out->info == GYRE_OUTCOME_FAILED;
}

/*
 * Whether the lanes of a block of one warp have returned together, met no barrier, and did nothing but to handle a message of several of its
 * flow. Then no lane has to wait for another one, and nothing of what the lanes share was touched.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_lean_is_quiet_(gyre_u64 origin, const gyre_cuda_port *ports, int result,
                                         const gyre_context *gyre)
{
    const gyre_u32 mask = gyre_warp_lanes_();
    gyre_u32 is_quiet = !gyre->failed && !gyre->barrier_turn;
    if (blockDim.x > 32 || __activemask() != mask)
        return 0;
    if (threadIdx.x == 0) {
        is_quiet = is_quiet && !gyre->again && !(origin & GYRE_ORIGIN_SOLE) && result != GYRE_OUTCOME_REPLY;
#pragma unroll
        for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++)
            is_quiet = is_quiet && !ports[i].emitted;
    }
    return (gyre_u32)__all_sync(mask, (int)is_quiet);
}

/*
 * Handles messages of the block's run, which came by a link, until one is for the general way. Returns how many it handled. `*silent`
 * becomes 0 when something was emitted or completed. Called by all threads.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_link_lean_blocks_(gyre_link_view_ *links, const gyre_link_places_ &places,
                                            gyre_cuda_port *ports, void *state, void *scratch,
                                            const void *buffers, gyre_context *gyre, gyre_u32 *silent)
{
    const gyre_u32 messages = links->run.count;
    const gyre_u64 first = links->run.first;
    gyre_u32 number = 0, is_clean = 0; /* is_clean: what the lanes share is as gyre_block_begin_ left it */
    gyre_chunk *cell = places.cells;
    gyre_lean_ lean = {};
    lean.group = links->group;
    GYRE_IN_SHARED_(lean.group);
    lean.key = lean.asked = ~(gyre_u64)0;
#pragma unroll 1
    for (gyre_u32 i = threadIdx.x; i < messages; i += blockDim.x)
        links->to[i] = 0;
    __syncthreads();
#pragma unroll 1
    for (; number < messages && gyre_lean_goes_<K>(links, &lean, cell);
         number++, cell += gyre_stage_<K>::cell) {
        const gyre_u64 origin = cell[0].x;
        gyre_slot *out = (gyre_slot *)(cell + gyre_stage_<K>::request_chunks);
        gyre_link_aim_<K>(links, places, ports, 0, threadIdx.x == 0);
        gyre_lean_begin_(links, origin, first + number, gyre);
        gyre->barrier_turn = 0;
        if (!is_clean) {
            gyre_block_begin_(gyre);
            __syncthreads();
        }
        const int result = K::gyre_its_handle_(gyre_payload_((const gyre_slot *)cell), gyre_payload_(out),
                                               state, scratch, buffers, gyre);
        is_clean = gyre_lean_is_quiet_<K>(origin, ports, result, gyre);
        if (is_clean) {
            if (threadIdx.x == 0)
                gyre_lean_count_<K>(links, &lean, cell, origin, number, 0);
            __syncwarp(gyre_warp_lanes_());
            continue;
        }
        gyre_block_end_(gyre, out, result, gyre_reply_length_<K>(out));
        __syncthreads(); /* the lane that failed has written why */
        if (threadIdx.x == 0)
            links->view->failed += gyre_lean_block_end_<K>(links, &lean, cell, number, ports, gyre);
        *silent = 0;
        gyre_together_(); /* no lane looks any more at the words that the lanes shared for this message */
    }
    if (threadIdx.x == 0)
        gyre_lean_write_back_<K>(&lean);
    return number;
}
#endif

/* Handles the run of the block, which came by a link. Called by thread 0. */
template <class K>
GYRE_HELPER void gyre_link_lean_run_(gyre_link_view_ *links, const gyre_link_places_ &places,
                                     gyre_cuda_port *ports, void *state, const void *buffers,
                                     gyre_context *gyre)
{
    enum { count = gyre_link_shape_<K>::ports };
    const gyre_u32 messages = links->run.count;
    const gyre_u64 first = links->run.first;
    gyre_u64 next[count + 1];
    gyre_u32 use[count + 1], failed = 0;
    gyre_lean_ lean = {};
    gyre_chunk *cell = places.cells, head = cell[0];
    lean.group = links->group;
    lean.key = ~(gyre_u64)0;
#if GYRE_LIMITED
    lean.asked = ~(gyre_u64)0;
#endif
    GYRE_IN_SHARED_(lean.group);
#pragma unroll
    for (int i = 0; i < (int)count; i++) {
        use[i] = links->outs[i].use;
        next[i] = links->outs[i].next;
    }
    gyre_link_aim_<K>(links, places, ports, 0, 1);
#pragma unroll 1
    for (gyre_u32 number = 0; number < messages; number++, cell += gyre_stage_<K>::cell) {
        const gyre_slot *in = (const gyre_slot *)cell;
        const gyre_u64 origin = head.x;
        const gyre_u32 length = (gyre_u32)head.y, said = GYRE_FIRST_WORD_(in + 1);
        gyre_link_message_ message = {};
        gyre_u32 sent = 0, quiet;
        int result = GYRE_OUTCOME_NO_REPLY;
        message.origin = origin;
        message.index = first + number;
        if (number + 1 < messages)
            head = cell[gyre_stage_<K>::cell];
        gyre_lean_begin_(links, origin, message.index, gyre);
#pragma unroll
        for (int i = 0; i < (int)count; i++) {
            ports[i].next = (gyre_u32)next[i];
            ports[i].emitted = 0;
        }
        if (GYRE_LENGTH_WRONG_(length, K::gyre_its_request_least_, K::gyre_its_request_size_, said))
            gyre_fail_(gyre, GYRE_FAILURE_LENGTH, GYRE_LENGTH_TEXT_);
        else if (!gyre_lean_is_over_(links, &lean, origin))
            result = K::gyre_its_handle_(gyre_payload_(in),
                                         gyre_payload_((gyre_slot *)(cell + gyre_stage_<K>::request_chunks)),
                                         state, 0, buffers, gyre);
        quiet = !gyre->failed && result != GYRE_OUTCOME_REPLY && !(origin & GYRE_ORIGIN_TAP);
#pragma unroll
        for (int i = 0; i < (int)count; i++) {
            sent += use[i] == GYRE_PORT_LINKED ? ports[i].emitted : 0;
            quiet = quiet && (use[i] != GYRE_PORT_UNWIRED || !ports[i].emitted);
        }
        if (quiet && !(origin & GYRE_ORIGIN_SOLE) && sent <= GYRE_LEAN_MOST) {
            gyre_lean_count_<K>(links, &lean, cell, origin, number, sent);
            message.next = GYRE_ORIGIN_NEXT(origin);
        } else if (quiet && origin & GYRE_ORIGIN_SOLE && sent == 1) {
            message.next = GYRE_ORIGIN_NEXT(origin) | GYRE_ORIGIN_SOLE;
        } else {
            failed += gyre_lean_settle_<K>(links, &lean, cell, &message, ports, result, gyre);
        }
        links->to[number] = message.to;
        gyre_lean_place_<K>(links, ports, use, next, message.next);
    }
    gyre_lean_write_back_<K>(&lean);
#pragma unroll
    for (int i = 0; i < (int)count; i++)
        links->outs[i].next = next[i];
    links->view->failed += failed;
}

#endif
