/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that a block handles one after the other are accounted for together, as long as they are of one flow: one fence and one
 * atomic operation for all of them, where each message took both, which cost more than most handlers. Included by cuda_links.h.
 *
 * Until then the flow counts them as alive, so it cannot end before. It is as if their handlers had taken so long. What they emitted
 * is published behind that (gyre_link_publish_placed_), as everywhere.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_GROUP_H
#define GYRE_DIALECT_CUDA_LINK_GROUP_H

/** Messages of one flow in a run that is handled in turn. Thread 0 alone uses it. */
struct gyre_link_group_ {
    gyre_flow *flow; /* NULL: there is none */
    gyre_slot *out;  /* the reply of the last of them */
    gyre_u64 *to;    /* of each message of the run, where its completion goes */
    gyre_u64 origin;
    gyre_u32 more;   /* by how many messages more the flow is alive; fewer as a number below 0 */
    gyre_u32 number; /* of the last of them in the run */
};

/*
 * Whether messages of K are accounted for in groups. Entries that need more end each flow by itself (cuda_link_entry.h), and the messages
 * of a keyed actor are handled by several threads.
 */
template <class K> GYRE_HELPER gyre_u32 gyre_link_groups_(const gyre_link_view_ *links)
{
    return gyre_link_shape_<K>::in_turn && K::gyre_its_kernel_form_ != 4 && !links->needs;
}

/* Accounts for the group, if there is one. The flow that ends by it is completed with the last message of the group. */
GYRE_OUTLINE_ void gyre_group_close_(const gyre_link_view_ *links)
{
    gyre_link_group_ *const group = links->group;
    GYRE_IN_SHARED_(group);
    gyre_flow *const flow = group->flow;
    const gyre_u32 more = group->more, fewer = 0 - more;
    group->flow = 0;
    if (!flow || !more)
        return;
    if ((gyre_i32)more > 0) { /* who ends the flow has seen messages that are published behind a fence */
        gyre_flow_change_(flow, more);
        return;
    }
    gyre_link_fence_(
        links->far); /* what handlers wrote, and what was noted, is there for whoever ends the flow */
    if (GYRE_FLOW_ALIVE_(gyre_flow_add_(flow, more)) != fewer)
        return;
    gyre_link_fence_(links->far); /* what others noted is there */
    group->to[group->number] = GYRE_FLOW_ENDS_(links, group->origin, flow, group->out);
#if GYRE_ROUNDS
    if (!group->to[group->number])
        return;
#endif
    group->out->sequence = gyre_flow_index_(gyre_entry_of_(links, group->origin), group->origin) + 1;
#if GYRE_LIMITED
    gyre_admission_give_(links, gyre_entry_of_(links, group->origin), 1);
#endif
}

/* Makes the message, whose reply is `out`, the last one of the group of its flow. */
GYRE_HELPER gyre_link_group_ *gyre_group_join_(const gyre_link_view_ *links,
                                               const gyre_link_message_ *message, gyre_slot *out)
{
    gyre_link_group_ *const group = links->group;
    gyre_flow *const flow = gyre_flow_of_(links, message->origin);
    GYRE_IN_SHARED_(group);
    if (group->flow != flow) {
        gyre_group_close_(links);
        group->flow = flow;
        group->more = 0;
    }
    group->origin = message->origin;
    group->out = out;
    group->number = (gyre_u32)(message->index - links->run.first);
    return group;
}

/* As gyre_settle_counted_: one message of several, which is in the group. */
GYRE_HELPER void gyre_group_settle_(const gyre_link_view_ *links, gyre_link_group_ *group,
                                    const gyre_slot *out, gyre_u32 sent)
{
    if (out->info == GYRE_OUTCOME_FAILED)
        gyre_note_failure_(group->flow, out);
    else if (out->info == GYRE_OUTCOME_REPLY)
        gyre_note_reply_(links, group->origin, out);
    group->more += sent - 1;
}

#endif
