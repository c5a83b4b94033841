/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message of a flow that may be limited, from the look whether its handler is called at all to the end of its flow, in files that
 * are compiled with GYRE_LIMITED (cuda_link_limits.h). Included by cuda_links.h.
 *
 * A message that is handled again counts as one that is alive: it was emitted to its own handler, so to speak.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_LIMITED_H
#define GYRE_DIALECT_CUDA_LINK_LIMITED_H

#if !GYRE_LIMITED
#define GYRE_LINK_CLEARS_(links, needs)      (needs)
#define GYRE_LINK_NOTE_AGAIN_(message, gyre) ((void)0)
#define GYRE_LINK_PASS_OVER_(links, message) ((void)0)
#else
#define GYRE_LINK_CLEARS_(links, needs)      ((links)->heard | (needs)) /* gyre_context.clears */
#define GYRE_LINK_NOTE_AGAIN_(message, gyre) ((message)->again = (gyre)->again)
/* A request that is passed over (cuda_link_entry.h) was counted as a flow that begins, except one that is to be dropped. */
#define GYRE_LINK_PASS_OVER_(links, message)                                                                 \
    ((message)->index >= (links)->run.drop_before                                                            \
         ? gyre_admission_give_((links), gyre_entry_of_((links), (message)->origin), 1)                      \
         : (void)0)

/* ---- before the handler ---- */

GYRE_OUTLINE_ void gyre_memory_clear_(gyre_u8 *memory, gyre_u32 size)
{
#pragma unroll 1
    for (gyre_u32 i = 0; i < size; i++)
        memory[i] = 0;
}

/*
 * Clears a flow's memory at this kernel at the first message of the flow. The word in front of it says of which flow it is:
 * 2 * (index + 1) while a block clears it, and one more when it has. Called by one thread.
 */
GYRE_OUTLINE_ void gyre_memory_touch_(gyre_u8 *place, gyre_u64 index, gyre_u32 size, gyre_u32 far)
{
    gyre_u64 *const mark = (gyre_u64 *)place;
    const gyre_u64 ready = (index + 1) << 1 | 1;
    gyre_u64 seen = gyre_near_load_(mark);
    if (seen != ready && seen != ready - 1 && atomicCAS_system(mark, seen, ready - 1) == seen) {
        gyre_memory_clear_(place + GYRE_FLOW_FRONT, size);
        gyre_link_fence_(far);
        gyre_near_store_(mark, ready);
        return;
    }
#pragma unroll 1
    while (gyre_near_load_(mark) != ready) { /* another block is clearing it */
    }
    if (gridDim.x > 1)
        gyre_link_fence_(
            far); /* what this multiprocessor has kept of it may be older than what other blocks wrote */
}

/* Says where the message's flow has memory at the kernel. Lane 0 clears it, which the others see behind the next barrier. */
template <class K>
GYRE_HELPER void gyre_link_remember_(const gyre_link_view_ *links, const gyre_link_message_ *message,
                                     gyre_context *gyre)
{
    constexpr gyre_u32 size = gyre_flow_size_of_<K>::size;
    const gyre_u32 clears = !gyre->in_block || gyre->lane == 0;
    gyre->memory_size = size;
    gyre->memory = 0;
    if constexpr (size > 0) {
        if (!message->origin || message->origin & GYRE_ORIGIN_TAP) {
            gyre_u8 *const own = links->own + (message->origin ? 1 : 2) * GYRE_LINK_OWN_SIZE;
            gyre->memory = own;
            if (clears && !gyre->turn)
                gyre_memory_clear_(own, size);
            return;
        }
        const gyre_link_entry_ *entry = gyre_entry_of_(links, message->origin);
        gyre_u8 *const place =
            entry->memory + (gyre_u64)GYRE_ORIGIN_PLACE(message->origin) * entry->memory_size;
        gyre->memory = place + GYRE_FLOW_FRONT;
        if (clears)
            gyre_memory_touch_(place, gyre->entry ? gyre_flow_index_(entry, message->origin) : message->index,
                               size, links->far);
    }
}

/*
 * Prepares the call of the handler. Returns whether it is not called, because the flow exceeded its quota: `out` says so then. In a
 * block kernel lane 0 decides.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_link_enter_(const gyre_link_view_ *links, const gyre_link_message_ *message,
                                      gyre_slot *out, gyre_context *gyre)
{
    gyre->again = 0;
    gyre->turn = GYRE_LINK_IS_KEPT_(links) ? links->kept : 0;
    gyre_link_remember_<K>(links, message, gyre);
    if ((gyre->in_block && gyre->lane) || !message->origin ||
        message->origin & (GYRE_ORIGIN_TAP | GYRE_ORIGIN_SOLE) ||
        !gyre_near_half_load_(&gyre_flow_of_(links, message->origin)->over))
        return 0;
    out->length = 0;
    out->info = GYRE_OUTCOME_NO_REPLY;
    return 1;
}

/* ---- behind the handler ---- */

#define GYRE_OVER_TEXT_ "more messages alive than the quota allows"

/* The only message of its flow. Returns whether what it emitted leaves. */
GYRE_OUTLINE_ gyre_u32 gyre_limited_sole_(const gyre_link_view_ *links, gyre_link_message_ *message,
                                          gyre_slot *out, gyre_u32 sent)
{
    const gyre_u32 alive = sent + message->again,
                   is_over = alive > gyre_entry_of_(links, message->origin)->quota;
    if (is_over)
        gyre_write_failure_(out, GYRE_FAILURE_QUOTA, GYRE_OVER_TEXT_);
    if (!alive)
        GYRE_LINK_END_SILENT_(links, message, out);
    if (!alive && GYRE_LINK_GOES_ON_(links, message, out))
        return 1;
    if (!alive || is_over) {
        message->to = gyre_reply_of_(links, message->origin);
        return !is_over;
    }
    if (alive == 1 && out->info != GYRE_OUTCOME_REPLY) {
        message->next |= GYRE_ORIGIN_SOLE;
        return 1;
    }
    gyre_near_half_store_(&gyre_flow_of_(links, message->origin)->over, 0);
    gyre_flow_begins_(links, message->origin, out, alive);
    message->keeps &= ~GYRE_ORIGIN_SOLE;
    return 1;
}

/*
 * One message of several. Returns whether what it emitted leaves. `groups`: it is accounted for with others of its flow; what they owe
 * is paid before the quota is looked at.
 */
GYRE_OUTLINE_ gyre_u32 gyre_limited_counted_(const gyre_link_view_ *links, gyre_link_message_ *message,
                                             gyre_slot *out, gyre_u32 sent, gyre_u32 groups)
{
    gyre_flow *flow = gyre_flow_of_(links, message->origin);
    gyre_link_group_ *group = groups ? gyre_group_join_(links, message, out) : 0;
    const gyre_u32 alive = sent + message->again, more = alive > 1 ? alive - 1 : 0;
    const gyre_u32 change = more + (group ? group->more : 0);
    gyre_u32 is_over = 0;
    if (more && group)
        group->more = 0;
    if (more && GYRE_FLOW_ALIVE_(gyre_flow_add_(flow, change)) + change >
                    gyre_entry_of_(links, message->origin)->quota) {
        is_over = 1;
        gyre_near_half_store_(&flow->over, 1);
        gyre_write_failure_(out, GYRE_FAILURE_QUOTA, GYRE_OVER_TEXT_);
        gyre_flow_change_(flow, 0 - more);
    }
    if (group)
        gyre_group_settle_(links, group, out, alive && !is_over);
    else
        message->to = gyre_settle_counted_(links, message->origin, out, alive && !is_over);
    return !is_over;
}

/* As in files without limits (cuda_links.h). `message->again` says whether the handler asked for another call. */
template <class K>
GYRE_HELPER void gyre_link_settle_(const gyre_link_view_ *links, gyre_link_message_ *message,
                                   gyre_cuda_port *ports, gyre_slot *out)
{
    gyre_u32 sent = gyre_link_emitted_<K>(links, message, ports, out), leaves = 1;
    const gyre_u32 begins = links->run.from == GYRE_RUN_ENTRY;
    if (!message->origin && message->again)
        gyre_link_fail_(out, GYRE_FAILURE_PORT, "GYRE_MORE, and the queue enters no pipeline");
    if (out->info == GYRE_OUTCOME_FAILED)
        message->again = 0;
    message->keeps = message->origin | GYRE_ORIGIN_KEPT_;
    if (!message->origin) {
        message->to = (gyre_u64)gyre_reply_at_(&links->view->served[links->run.which], message->index);
    } else if (message->origin & GYRE_ORIGIN_TAP) {
        message->next = GYRE_ORIGIN_NEXT(message->origin) & ~GYRE_ORIGIN_KEPT_;
        return;
    } else {
        const gyre_link_entry_ *entry = gyre_entry_of_(links, message->origin);
        message->next = GYRE_ORIGIN_NEXT(message->origin) & ~GYRE_ORIGIN_KEPT_;
        if (begins && (sent || message->again)) {
            gyre_flow_name_(entry, message->origin, message->index);
            GYRE_LINK_FORGET_ASKS_(links, message);
            GYRE_LINK_BEGIN_ROUNDS_(links, message);
        }
        GYRE_LINK_NOTE_SENT_(links, message, sent);
        leaves = message->origin & GYRE_ORIGIN_SOLE
                     ? gyre_limited_sole_(links, message, out, sent)
                     : gyre_limited_counted_(links, message, out, sent, gyre_link_groups_<K>(links));
        GYRE_LINK_COUNT_ASKS_(links, message, leaves && sent);
        if (message->to && !begins)
            message->index = gyre_flow_index_(entry, message->origin);
        if (message->to && out->info != GYRE_OUTCOME_DROPPED)
            gyre_admission_give_(links, entry, 1);
        if (message->to && links->needs)
            gyre_entry_end_(links, message->origin, message->index, message->to, out);
    }
    if (!leaves) {
        sent = message->again = 0;
#pragma unroll
        for (int i = 0; i < (int)gyre_link_shape_<K>::ports; i++)
            ports[i].emitted = 0;
    }
    out->sequence = message->index + 1;
    message->counted = sent && (begins || !(message->next & GYRE_ORIGIN_SOLE));
}

/*
 * Keeps the message of the run for another call of its handler, or forgets the one that was kept. It lies in device memory, where it
 * outlives a launch. Called by all threads, behind the barrier of the publication.
 */
template <class K> GYRE_HELPER void gyre_link_keep_(gyre_link_view_ *links, const gyre_link_places_ &places)
{
    const gyre_u32 again = *(volatile gyre_u32 *)&links->again, was_kept = GYRE_LINK_IS_KEPT_(links);
    gyre_u8 *const slot = links->own + GYRE_LINK_KEPT_FRONT;
    if (!again && !was_kept)
        return;
#pragma unroll 1
    for (gyre_u32 chunk = 1 + threadIdx.x; !was_kept && chunk < gyre_stage_<K>::request_chunks;
         chunk += blockDim.x)
        gyre_near_chunk_store_(slot + 16 * chunk, places.cells[chunk]);
    if (threadIdx.x != 0)
        return;
    links->kept = again ? (was_kept ? links->kept : 0) + 1 : 0;
    gyre_near_chunk_store_(slot, {links->origin, (gyre_u32)places.cells[0].y});
    gyre_near_half_store_((gyre_u32 *)links->own, links->kept);
    if (again && !was_kept)
        GYRE_LINK_KEEP_ASK_(links);
    gyre_near_store_(links->keeps, again ? links->pipeline : 0);
}
#endif

#endif
