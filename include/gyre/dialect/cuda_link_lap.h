/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which request a flow belongs to, and the word that counts its messages. Included by cuda_link_view.h.
 *
 * A flow's origin says the request's place in its queue, and the lower bits of its lap: how often the queue had come round. The whole lap
 * follows from the entry's lap, a word in front of its flows that whoever takes the first request of a lap raises. A place has one flow
 * at a time, so the laps of flows under way are the entry's or the one before. The entry's lap may be seen late, or may be raised late, by
 * a few laps; it is the nearest lap with those lower bits that counts, so half of what the bits count is allowed. So an entry writes
 * nothing to the flow of a message that stays its flow's only one, and needs no fence before it passes the message on.
 *
 * An entry of another program is not so sure: that program may fill places again too early. There the flow itself has the index.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_LAP_H
#define GYRE_DIALECT_CUDA_LINK_LAP_H

/* What the owner of a flow writes and reads of its index. */
GYRE_HELPER gyre_u64 *gyre_flow_index_of_(const gyre_link_entry_ *entry, gyre_u64 origin)
{
    return &(entry->flows + GYRE_ORIGIN_PLACE(origin))->index;
}

GYRE_HELPER gyre_flow_head *gyre_entry_head_(const gyre_link_entry_ *entry)
{
    return (gyre_flow_head *)entry->flows - 1;
}

/* The origin of request `index`, of entry `number`, before it has caused anything. `mask`: of its queue. */
GYRE_HELPER gyre_u64 gyre_origin_begins_(gyre_u32 number, gyre_u64 index, gyre_u32 mask)
{
    return GYRE_ORIGIN_SOLE | GYRE_ORIGIN_OF(number, (gyre_u32)index & mask) |
           GYRE_ORIGIN_LAP(index >> __popc(mask));
}

/* The index of the request that the origin comes from, when the entry's lap is about `lap`. */
GYRE_HELPER gyre_u64 gyre_index_near_(const gyre_link_entry_ *entry, gyre_u64 origin, gyre_u64 lap)
{
    enum { unused = 64 - GYRE_ORIGIN_LAP_BITS };
    const gyre_u64 ahead = (origin >> GYRE_ORIGIN_LAP_SHIFT) - lap;
    return (lap + (gyre_u64)((gyre_i64)(ahead << unused) >> unused)) << entry->shift |
           GYRE_ORIGIN_PLACE(origin);
}

/* Reads the word that says the index of the request that the origin comes from. Called for a message of the flow, which is under way. */
GYRE_HELPER gyre_u64 gyre_flow_word_(const gyre_link_entry_ *entry, gyre_u64 origin)
{
    return gyre_near_load_(entry->needs & GYRE_NEEDS_CARE_ ? gyre_flow_index_of_(entry, origin)
                                                           : &gyre_entry_head_(entry)->lap);
}

/* The index of that request. `word`: what gyre_flow_word_ returned. */
GYRE_HELPER gyre_u64 gyre_index_by_(const gyre_link_entry_ *entry, gyre_u64 origin, gyre_u64 word)
{
    return entry->needs & GYRE_NEEDS_CARE_ ? word : gyre_index_near_(entry, origin, word);
}

GYRE_HELPER gyre_u64 gyre_flow_index_(const gyre_link_entry_ *entry, gyre_u64 origin)
{
    return gyre_index_by_(entry, origin, gyre_flow_word_(entry, origin));
}

/* Notes whose flow it is, where the origin does not say it. Called before the first message leaves, behind which is a fence. */
GYRE_HELPER void gyre_flow_name_(const gyre_link_entry_ *entry, gyre_u64 origin, gyre_u64 index)
{
    if (entry->needs & GYRE_NEEDS_CARE_)
        *(volatile gyre_u64 *)gyre_flow_index_of_(entry, origin) = index;
}

/* Notes that requests were taken: `count`, 1 at least, from `first` on. Called by one thread. `mask`: of the queue. */
GYRE_HELPER void gyre_lap_note_(const gyre_link_entry_ *entry, gyre_u64 first, gyre_u32 count, gyre_u32 mask)
{
    const gyre_u64 last = first + count - 1;
    if (((gyre_u32)last & mask) < count) /* the first request of a lap is among them */
        atomicMax_system(&gyre_entry_head_(entry)->lap, last >> __popc(mask));
}

/* ---- how many messages are alive ---- */

/*
 * In gyre_flow.alive beside the messages: a handler replied, or failed, so that whoever finds no message left knows by the same operation
 * whether anything was noted in the flow.
 */
#define GYRE_FLOW_REPLIED_       (1u << 30)
#define GYRE_FLOW_FAILED_        (1u << 31)
#define GYRE_FLOW_ALIVE_(before) ((before) & (GYRE_FLOW_REPLIED_ - 1))

/*
 * Adds to gyre_flow.alive and returns what it was. The address is said to be a global one, because an operation at any other one waits until
 * it has come back.
 */
GYRE_HELPER gyre_u32 gyre_flow_add_(gyre_flow *flow, gyre_u32 more)
{
    gyre_u32 before;
    asm volatile("atom.relaxed.sys.global.add.u32 %0,[%1],%2;"
                 : "=r"(before)
                 : "l"(&flow->alive), "r"(more)
                 : "memory");
    return before;
}

/* The same where nobody needs to know what it was. */
GYRE_HELPER void gyre_flow_change_(gyre_flow *flow, gyre_u32 more)
{
    asm volatile("red.relaxed.sys.global.add.u32 [%0],%1;" ::"l"(&flow->alive), "r"(more) : "memory");
}

#endif
