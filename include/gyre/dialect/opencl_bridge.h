/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves bridged queues (their messages are stored back to back) in OpenCL C; ring_layout.h describes the layout.
 * Included by opencl_epoch.h. On devices that do not work in the queue's own memory the host packs and unpacks the
 * messages.
 *
 * On a direct device (which works in the queue's memory) a reply is built where the client will read it: at the end of
 * the block's track (its part of the reply bytes). A block handles one message of its track at a time. An epoch is
 * only as long as the track has room for the largest replies, so the code here does not ask for room. A kernel that
 * stays asks before each message (opencl_stay.h).
 */
#ifndef GYRE_DIALECT_OPENCL_BRIDGE_H
#define GYRE_DIALECT_OPENCL_BRIDGE_H

#define GYRE_HAS_TAIL_(type_) ((int)gyre_size_##type_ != (int)gyre_least_##type_)

#ifdef GYRE_OPENCL_DIRECT
/* Returns the message of a slot. Whatever place the slot names, the returned bytes lie in the ring, or in the slot. */
GYRE_HELPER const __global gyre_u8 *gyre_bridged_request_(const gyre_epoch *epoch,
                                                          const __global gyre_u8 *region,
                                                          const __global gyre_slot *in, gyre_u32 length)
{
    const __global gyre_place *place = (const __global gyre_place *)(in + 1);
    if (!epoch->bridge.request_bytes || length <= GYRE_SLOT_SMALL_PAYLOAD)
        return (const __global gyre_u8 *)(in + 1);
    return region + epoch->bridge.request_offset +
           GYRE_BRIDGE_AT(place->position, epoch->bridge.request_bytes);
}

GYRE_HELPER __global gyre_bridge_track *gyre_bridged_track_(const gyre_epoch *epoch, __global gyre_u8 *region,
                                                            gyre_u32 block)
{
    __global gyre_bridge_words *words = (__global gyre_bridge_words *)(region + epoch->bridge.words_offset);
    return (__global gyre_bridge_track *)(words + 1) + block;
}

/* Returns the position of the block's next reply. */
GYRE_HELPER gyre_u64 gyre_bridged_head_(const gyre_epoch *epoch, __global gyre_u8 *region, gyre_u32 block)
{
    return epoch->bridge.reply_bytes && !epoch->spare ? gyre_bridged_track_(epoch, region, block)->head : 0;
}

/* Returns where the block builds its next reply. */
GYRE_HELPER __global gyre_u8 *gyre_bridged_reply_(const gyre_epoch *epoch, __global gyre_u8 *region,
                                                  gyre_u32 block, gyre_u64 head, __global gyre_slot *out)
{
    const gyre_bridge bridge = epoch->bridge;
    if (!bridge.reply_bytes)
        return (__global gyre_u8 *)(out + 1);
    if (epoch->spare)
        return region + bridge.spare_offset;
    return region + bridge.reply_offset + (gyre_u64)block * bridge.reply_stride +
           GYRE_BRIDGE_AT(head, bridge.reply_bytes);
}

/*
 * Ends a reply that is built: a short reply goes into the slot; for a longer reply the slot says where it is. Doing
 * this twice does no harm, because PoCL may let all lanes of a block do the work of one lane.
 */
GYRE_HELPER void gyre_bridged_end_(const gyre_epoch *epoch, __global gyre_u8 *region, gyre_u32 block,
                                   gyre_u64 head, __global gyre_slot *out, const __global gyre_u8 *reply)
{
    if (!epoch->bridge.reply_bytes || out->info != GYRE_OUTCOME_REPLY)
        return;
    if (out->length <= GYRE_SLOT_SMALL_PAYLOAD) {
        for (gyre_u32 i = 0; i < (out->length + 7) / 8; i++)
            ((__global gyre_u64 *)(out + 1))[i] = ((const __global gyre_u64 *)reply)[i];
        return;
    }
    __global gyre_place *place = (__global gyre_place *)(out + 1);
    place->position = head;
    place->track = epoch->spare ? GYRE_TRACK_SPARE : block;
    place->reserved = 0;
    if (!epoch->spare)
        gyre_bridged_track_(epoch, region, block)->head = head + GYRE_BRIDGE_UNITS(out->length);
}

#define GYRE_EPOCH_REQUEST_(request_, epoch_, region, in_, length)                                           \
    ((const __global request_ *)(GYRE_HAS_TAIL_(request_)                                                    \
                                     ? gyre_bridged_request_((epoch_), (region), (in_), (length))            \
                                     : (const __global gyre_u8 *)((in_) + 1)))
/*
 * Declares where the reply to message i, with slot `out`, is built: in `region`, by the `gyre` of the lane or the
 * block.
 */
#define GYRE_EPOCH_ANSWER_(reply_, epoch_, region, gyre, i, out_)                                            \
    const gyre_u64 gyre_its_head_ =                                                                          \
        GYRE_HAS_TAIL_(reply_) ? gyre_bridged_head_((epoch_), (region), (gyre)->block) : 0;                  \
    __global reply_ *gyre_its_answer_ =                                                                      \
        (__global reply_ *)(GYRE_HAS_TAIL_(reply_) ? gyre_bridged_reply_((epoch_), (region), (gyre)->block,  \
                                                                         gyre_its_head_, (out_))             \
                                                   : (__global gyre_u8 *)((out_) + 1))
#define GYRE_EPOCH_ANSWERED_(reply_, epoch_, region, gyre, out_)                                             \
    (GYRE_HAS_TAIL_(reply_) ? gyre_bridged_end_((epoch_), (region), (gyre)->block, gyre_its_head_, (out_),   \
                                                (const __global gyre_u8 *)gyre_its_answer_)                  \
                            : (void)0)
#else
/*
 * Returns the bytes of a packed request: the host packed them into `region`, and the slot says where. The host takes
 * the reply from its place.
 */
GYRE_HELPER const __global gyre_u8 *gyre_packed_request_(const gyre_epoch *epoch,
                                                         const __global gyre_u8 *region,
                                                         const __global gyre_slot *in, gyre_u32 length)
{
    const __global gyre_place *place = (const __global gyre_place *)(in + 1);
    if (!epoch->bridge.request_bytes || length <= GYRE_SLOT_SMALL_PAYLOAD)
        return (const __global gyre_u8 *)(in + 1);
    return region + place->position;
}

GYRE_HELPER __global gyre_u8 *gyre_packed_reply_(const gyre_epoch *epoch, __global gyre_u8 *region,
                                                 gyre_u32 i, __global gyre_slot *out)
{
    if (!epoch->bridge.reply_bytes)
        return (__global gyre_u8 *)(out + 1);
    return region + epoch->bridge.reply_offset + (gyre_u64)i * epoch->bridge.reply_stride;
}

#define GYRE_EPOCH_REQUEST_(request_, epoch_, region, in_, length)                                           \
    ((const __global request_ *)(GYRE_HAS_TAIL_(request_)                                                    \
                                     ? gyre_packed_request_((epoch_), (region), (in_), (length))             \
                                     : (const __global gyre_u8 *)((in_) + 1)))
#define GYRE_EPOCH_ANSWER_(reply_, epoch_, region, gyre, i, out_)                                            \
    __global reply_ *gyre_its_answer_ =                                                                      \
        (__global reply_ *)(GYRE_HAS_TAIL_(reply_) ? gyre_packed_reply_((epoch_), (region), (i), (out_))     \
                                                   : (__global gyre_u8 *)((out_) + 1))
#define GYRE_EPOCH_ANSWERED_(reply_, epoch, region, gyre, out) ((void)0)
#endif

#endif
