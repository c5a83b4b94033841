/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels whose messages travel in another product's wire form (a queue with `wire = memorypack`), in every dialect.
 * Included by kernel.h when the kernel is compiled for such a queue: GYRE_WIRED is 1, or 2 if each message follows a
 * frame's header of 256 bytes.
 *
 * The macros that declare kernels then declare two functions: the handler as its author wrote it, and a handler for
 * the ring's messages, which are packets of bytes. The second handler decodes the request, calls the first, and
 * encodes its reply, by the functions of the header that `gyre wire` wrote and the kernel's file includes.
 *
 * Small messages of lanes are decoded into the lane's own memory. All other messages are decoded into the reply's
 * slot, behind the bytes that will travel: handlers take GYRE_GLOBAL pointers, and a block's lanes all see the same
 * request.
 */
#ifndef GYRE_DIALECT_WIRED_H
#define GYRE_DIALECT_WIRED_H

#include "gyre/wire.h"

#if GYRE_WIRED == 2
#define GYRE_WIRED_HEAD_ 256
#else
#define GYRE_WIRED_HEAD_ 0
#endif
#define GYRE_WIRED_SMALL_ 1024 /* bytes of a request and its reply for which a lane has room */
#if defined(GYRE_DIALECT_OPENCL) || defined(GYRE_CHECK)
#define GYRE_WIRED_IS_LOCAL_(form_, request_, reply_) 0
#else
#define GYRE_WIRED_IS_LOCAL_(form_, request_, reply_)                                                        \
    ((form_) != 2 && sizeof(request_) + sizeof(reply_) <= GYRE_WIRED_SMALL_)
#endif

/*
 * Called before the handler, because bytes of the reply that the handler does not write may be encoded. Nothing else
 * zeroes a CUDA lane's own memory.
 */
#ifdef GYRE_DIALECT_CUDA
#define GYRE_WIRED_ZERO_(gyre, message_, size_) memset((message_), 0, (size_))
#else
#define GYRE_WIRED_ZERO_(gyre, message_, size_) gyre_zero_((gyre), (GYRE_GLOBAL gyre_u8 *)(message_), (size_))
#endif

/* gyre_none, the message of nothing, has no bytes. */
#define GYRE_WIRE_MOST_gyre_none 0
GYRE_HELPER gyre_u32 gyre_encode_gyre_none(gyre_wire_out *out, const GYRE_GLOBAL gyre_none *message)
{
    gyre_wire_start_(out, (const GYRE_GLOBAL gyre_u8 *)message);
    return 0;
}

GYRE_HELPER int gyre_decode_gyre_none(gyre_wire_in *in, GYRE_GLOBAL gyre_none *message)
{
    (void)message;
    in->at = 0;
    in->problem = 0;
    return gyre_wire_end_(in);
}

/* ---- packets ---- */

#define GYRE_WIRED_EIGHTS_(size_) (((size_) + 7) / 8 * 8)
#define GYRE_WIRED_ROOM_(message_)                                                                           \
    (GYRE_WIRED_HEAD_ + GYRE_WIRE_MOST_##message_ + (GYRE_WIRE_MOST_##message_ ? 0 : 4))
#define GYRE_WIRED_PLACE_(message_) GYRE_WIRED_EIGHTS_(GYRE_PACKET_FRONT + GYRE_WIRED_ROOM_(message_))
/* The room of a reply, and behind it the decoded messages, unless the lane holds these in its own memory. */
#define GYRE_WIRED_ALL_(form_, request_, reply_)                                                             \
    (GYRE_WIRED_IS_LOCAL_(form_, request_, reply_)                                                           \
         ? GYRE_WIRED_ROOM_(reply_)                                                                          \
         : GYRE_WIRED_PLACE_(reply_) - GYRE_PACKET_FRONT + GYRE_WIRED_EIGHTS_(sizeof(request_)) +            \
               GYRE_WIRED_EIGHTS_(sizeof(reply_)))

#define GYRE_WIRED_PACKET_(packet_, message_, room_)                                                         \
    typedef struct packet_ {                                                                                 \
        gyre_u32 gyre_used;                                                                                  \
        gyre_u8 gyre_bytes[room_];                                                                           \
    } packet_;                                                                                               \
    enum {                                                                                                   \
        gyre_size_##packet_ = sizeof(packet_),                                                               \
        gyre_least_##packet_ = GYRE_PACKET_FRONT,                                                            \
        gyre_parts_##packet_ = 0                                                                             \
    };                                                                                                       \
    GYRE_DESCRIBE_PACKET_(packet_, message_, GYRE_WIRED_HEAD_ + GYRE_WIRE_MOST_##message_)                   \
    GYRE_CHOICE_FUNCTIONS_(packet_, GYRE_PACKET_FRONT)

/* ---- frames ---- */

GYRE_HELPER gyre_u32 gyre_wired_word_(const GYRE_GLOBAL gyre_u8 *from)
{
    return (gyre_u32)from[0] | (gyre_u32)from[1] << 8 | (gyre_u32)from[2] << 16 | (gyre_u32)from[3] << 24;
}

/* Opens the bytes of a packet for reading, behind its frame. Offsets in problems count from the frame's start. */
GYRE_HELPER int gyre_wired_open_(gyre_wire_in *in, const GYRE_GLOBAL gyre_u8 *bytes, gyre_u32 length)
{
    in->bytes = bytes + GYRE_WIRED_HEAD_;
    in->length = length - GYRE_WIRED_HEAD_;
    in->at = 0;
    in->problem = 0;
#if GYRE_WIRED == 2
    if (length < GYRE_WIRED_HEAD_ || gyre_wired_word_(bytes) != 0xdcf1u) {
        in->problem = "no frame: expected the magic 0xDCF1";
        in->at = 0u - (gyre_u32)GYRE_WIRED_HEAD_;
    } else if (gyre_wired_word_(bytes + 4) != in->length || gyre_wired_word_(bytes + 8) != 0) {
        in->problem = "the frame names another size";
        in->at = 4u - (gyre_u32)GYRE_WIRED_HEAD_;
    }
#endif
    return !in->problem;
}

/* Writes the reply's frame: from the request's receiver to its sender, at the request's time. */
GYRE_HELPER void gyre_wired_frame_(GYRE_GLOBAL gyre_u8 *to, const GYRE_GLOBAL gyre_u8 *from, gyre_u32 length)
{
    for (gyre_u32 i = 0; i < 4; i++) {
        to[i] = from[i];
        to[4 + i] = (gyre_u8)(length >> 8 * i);
        to[8 + i] = 0;
        to[20 + i] = from[24 + i];
        to[24 + i] = from[20 + i];
    }
    for (gyre_u32 i = 12; i < 20; i++)
        to[i] = from[i];
    for (gyre_u32 i = 28; i < 256; i++)
        to[i] = 0;
}

/* ---- around the handler ---- */

/* Declares the places of the decoded messages: gyre_asked_ and gyre_given_. */
#if defined(GYRE_DIALECT_OPENCL) || defined(GYRE_CHECK)
#define GYRE_WIRED_PLACES_(form_, name_, reply_)                                                             \
    GYRE_GLOBAL gyre_u8 *gyre_room_ = (GYRE_GLOBAL gyre_u8 *)reply + GYRE_WIRED_PLACE_(reply_);
#else
#define GYRE_WIRED_PLACES_(form_, name_, reply_)                                                             \
    gyre_u64 gyre_own_[GYRE_WIRED_IS_LOCAL_(form_, gyre_asked_by_##name_, gyre_given_by_##name_)             \
                           ? (GYRE_WIRED_EIGHTS_(sizeof(gyre_asked_by_##name_)) +                            \
                              GYRE_WIRED_EIGHTS_(sizeof(gyre_given_by_##name_))) /                           \
                                 8                                                                           \
                           : 1];                                                                             \
    gyre_u8 *gyre_room_ = GYRE_WIRED_IS_LOCAL_(form_, gyre_asked_by_##name_, gyre_given_by_##name_)          \
                              ? (gyre_u8 *)gyre_own_                                                         \
                              : (gyre_u8 *)reply + GYRE_WIRED_PLACE_(reply_);
#endif

#define GYRE_WIRED_DECODE_(request_, reply_)                                                                 \
    (gyre_wired_open_(&gyre_in_, request->gyre_bytes, request->gyre_used - GYRE_PACKET_FRONT) &&             \
     gyre_decode_##request_(&gyre_in_, gyre_asked_))
#define GYRE_WIRED_BEGIN_(form_, name_, request_, reply_)                                                    \
    GYRE_WIRED_PLACES_(form_, name_, reply_)                                                                 \
    GYRE_GLOBAL gyre_asked_by_##name_ *gyre_asked_ =                                                         \
        (GYRE_GLOBAL gyre_asked_by_##name_ *)(GYRE_GLOBAL void *)gyre_room_;                                 \
    GYRE_GLOBAL gyre_given_by_##name_ *gyre_given_ =                                                         \
        (GYRE_GLOBAL gyre_given_by_##name_ *)(GYRE_GLOBAL void *)(gyre_room_ + GYRE_WIRED_EIGHTS_(sizeof(    \
                                                                                   gyre_asked_by_##name_))); \
    gyre_wire_in gyre_in_;                                                                                   \
    gyre_wire_out gyre_out_;
/* Ends the work on a message; for the lane that has the messages to itself. */
#define GYRE_WIRED_END_(reply_)                                                                              \
    {                                                                                                        \
        gyre_out_.bytes = reply->gyre_bytes + GYRE_WIRED_HEAD_;                                              \
        gyre_out_.room = GYRE_WIRED_ROOM_(reply_) - GYRE_WIRED_HEAD_;                                        \
        gyre_out_.at = 0;                                                                                    \
        gyre_out_.problem = 0;                                                                               \
        const gyre_u32 gyre_length_ = gyre_encode_##reply_(&gyre_out_, gyre_given_);                         \
        if (gyre_out_.problem)                                                                               \
            return gyre_fail_(gyre, GYRE_FAILURE_TAIL, gyre_out_.problem);                                   \
        if (GYRE_WIRED_HEAD_)                                                                                \
            gyre_wired_frame_(reply->gyre_bytes, request->gyre_bytes, gyre_length_);                         \
        reply->gyre_used = GYRE_PACKET_FRONT + GYRE_WIRED_HEAD_ + gyre_length_;                              \
    }

#define GYRE_WIRED_LANE_BODY_(form_, name_, request_, reply_, the_state_, the_buffers_)                      \
    {                                                                                                        \
        GYRE_WIRED_BEGIN_(form_, name_, request_, reply_)                                                    \
        if (!GYRE_WIRED_DECODE_(request_, reply_))                                                           \
            return gyre_fail_(gyre, (gyre_i32)(gyre_in_.at + GYRE_WIRED_HEAD_), gyre_in_.problem);           \
        GYRE_WIRED_ZERO_(gyre, gyre_given_, gyre_least_##reply_);                                            \
        gyre_clear_##reply_(gyre_given_);                                                                    \
        const gyre_result gyre_outcome_ = gyre_handler_##name_##_wired_(                                     \
            gyre_asked_, gyre_given_, the_state_, gyre_scratch_, the_buffers_, gyre);                        \
        if (gyre_outcome_ != GYRE_REPLY || gyre->failed)                                                     \
            return gyre_outcome_;                                                                            \
        if (gyre_size_##reply_ == 0)                                                                         \
            return GYRE_NO_REPLY;                                                                            \
        GYRE_WIRED_END_(reply_)                                                                              \
        return GYRE_REPLY;                                                                                   \
    }

/*
 * The body for blocks: lane 0 decodes and encodes; all lanes handle the decoded message. The condition ends at a
 * barrier, and lanes part behind it: if they part in a condition after its last barrier, PoCL lets one lane decide for
 * all.
 */
#define GYRE_WIRED_BLOCK_BODY_(name_, request_, reply_, the_state_, the_buffers_)                            \
    {                                                                                                        \
        GYRE_WIRED_BEGIN_(2, name_, request_, reply_)                                                        \
        gyre_u32 gyre_fine_ = 1;                                                                             \
        if (gyre_lane(gyre) == 0) {                                                                          \
            gyre_fine_ = GYRE_WIRED_DECODE_(request_, reply_) ? 1u : 0u;                                     \
            if (gyre_fine_) {                                                                                \
                GYRE_WIRED_ZERO_(gyre, gyre_given_, gyre_least_##reply_);                                    \
                gyre_clear_##reply_(gyre_given_);                                                            \
            } else                                                                                           \
                gyre_fail_(gyre, (gyre_i32)(gyre_in_.at + GYRE_WIRED_HEAD_), gyre_in_.problem);              \
        }                                                                                                    \
        gyre_barrier(gyre);                                                                                  \
        gyre_fine_ = gyre_block_broadcast_u32(gyre, gyre_fine_, 0);                                          \
        gyre_result gyre_outcome_ = GYRE_NO_REPLY;                                                           \
        if (gyre_fine_) {                                                                                    \
            gyre_outcome_ = gyre_handler_##name_##_wired_(gyre_asked_, gyre_given_, the_state_, scratch,     \
                                                          the_buffers_, gyre);                               \
            gyre_barrier(gyre);                                                                              \
        }                                                                                                    \
        if (gyre_outcome_ != GYRE_REPLY || gyre->failed || gyre_lane(gyre) != 0)                             \
            return gyre_outcome_;                                                                            \
        if (gyre_size_##reply_ == 0)                                                                         \
            return GYRE_NO_REPLY;                                                                            \
        GYRE_WIRED_END_(reply_)                                                                              \
        return GYRE_REPLY;                                                                                   \
    }

/* ---- declaring kernels ---- */

/* Aliases of the types: within the handler's function a parameter may have the name of a type. */
#define GYRE_WIRED_PACKETS_(form_, name_, request_, reply_)                                                  \
    typedef request_ gyre_asked_by_##name_;                                                                  \
    typedef reply_ gyre_given_by_##name_;                                                                    \
    GYRE_WIRED_PACKET_(gyre_in_##name_, request_, GYRE_WIRED_ROOM_(request_))                                \
    GYRE_WIRED_PACKET_(gyre_out_##name_, reply_, GYRE_WIRED_ALL_(form_, request_, reply_))
#define GYRE_WIRED_LANE_(form_, name_, request_, reply_, state_, buffers_, the_state_, the_buffers_)         \
    GYRE_WIRED_PACKETS_(form_, name_, request_, reply_)                                                      \
    GYRE_HANDLER_NAMED_(GYRE_RESTRICT_, name_##_wired_, request_, reply_, gyre_none, state_, buffers_,       \
                        gyre_scratch_, the_state_, the_buffers_);                                            \
    GYRE_PLAIN_KERNEL_(form_, name_, gyre_in_##name_, gyre_out_##name_, state_, buffers_)                    \
    GYRE_WIRED_LANE_BODY_(form_, name_, request_, reply_, state, buffers)                                    \
    GYRE_HANDLER_NAMED_(GYRE_RESTRICT_, name_##_wired_, request_, reply_, gyre_none, state_, buffers_,       \
                        gyre_scratch_, the_state_, the_buffers_)
#define GYRE_WIRED_BLOCK_(name_, request_, reply_, scratch_, state_, buffers_, the_state_, the_buffers_)     \
    GYRE_WIRED_PACKETS_(2, name_, request_, reply_)                                                          \
    GYRE_HANDLER_NAMED_(, name_##_wired_, request_, reply_, scratch_, state_, buffers_, scratch, the_state_, \
                        the_buffers_);                                                                       \
    GYRE_PLAIN_BLOCK_KERNEL_(name_, gyre_in_##name_, gyre_out_##name_, scratch_, state_, buffers_)           \
    GYRE_WIRED_BLOCK_BODY_(name_, request_, reply_, state, buffers)                                          \
    GYRE_HANDLER_NAMED_(, name_##_wired_, request_, reply_, scratch_, state_, buffers_, scratch, the_state_, \
                        the_buffers_)

#undef GYRE_KERNEL
#undef GYRE_KERNEL_WITH
#undef GYRE_ACTOR
#undef GYRE_ACTOR_WITH
#undef GYRE_BLOCK_KERNEL
#undef GYRE_BLOCK_KERNEL_WITH
#undef GYRE_GRID_KERNEL
#undef GYRE_GRID_KERNEL_WITH
#undef GYRE_KEYED_ACTOR
#undef GYRE_KEYED_ACTOR_LIVES
#undef GYRE_KEYED_ACTOR_REMINDED
#undef GYRE_KEYED_ACTOR_LIVES_REMINDED
/* the key lies in the request as it is in memory, and the block that owns it reads it before a handler decodes anything */
#define GYRE_KEYED_ACTOR(name_, request_, reply_, state_, key_)                                              \
    GYRE_NO_WIRED_KEYS_("keyed actor '" #name_                                                               \
                        "' has no wire form: leave wire out of the section of its queue")                    \
    GYRE_KEYED_HANDLER_(name_, request_, reply_, state_)
#define GYRE_KEYED_ACTOR_LIVES(name_, request_, reply_, state_, key_)                                        \
    GYRE_KEYED_LIVES_(name_, request_, state_)                                                               \
    GYRE_KEYED_ACTOR(name_, request_, reply_, state_, key_)
#define GYRE_KEYED_ACTOR_REMINDED(name_, request_, reply_, state_, key_)                                     \
    GYRE_KEYED_REMINDED_(name_, state_)                                                                      \
    GYRE_KEYED_ACTOR(name_, request_, reply_, state_, key_)
#define GYRE_KEYED_ACTOR_LIVES_REMINDED(name_, request_, reply_, state_, key_)                               \
    GYRE_KEYED_LIVES_(name_, request_, state_)                                                               \
    GYRE_KEYED_ACTOR_REMINDED(name_, request_, reply_, state_, key_)
/* one lane decodes a message, into memory that only its block can reach */
#define GYRE_GRID_KERNEL_WITH(name_, request_, reply_, scratch_, state_, buffers_)                           \
    GYRE_GRID_MARK_(name_)                                                                                   \
    GYRE_NO_WIRED_KEYS_("grid kernel '" #name_                                                               \
                        "' has no wire form: leave wire out of the section of its queue")                    \
    GYRE_HANDLER_(name_, request_, reply_, scratch_, state_, buffers_)
#define GYRE_GRID_KERNEL(name_, request_, reply_, scratch_)                                                  \
    GYRE_GRID_KERNEL_WITH(name_, request_, reply_, scratch_, gyre_none, gyre_none)
#ifdef __cplusplus
#define GYRE_NO_WIRED_KEYS_(text_) static_assert(sizeof(gyre_u32) == 0, text_);
#else
#define GYRE_NO_WIRED_KEYS_(text_) _Static_assert(sizeof(gyre_u32) == 0, text_);
#endif
#define GYRE_KERNEL(name_, request_, reply_)                                                                 \
    GYRE_WIRED_LANE_(1, name_, request_, reply_, gyre_none, gyre_none, gyre_state_, gyre_buffers_)
#define GYRE_KERNEL_WITH(name_, request_, reply_, state_, buffers_)                                          \
    GYRE_WIRED_LANE_(1, name_, request_, reply_, state_, buffers_, state, buffers)
#define GYRE_ACTOR(name_, request_, reply_, state_)                                                          \
    GYRE_WIRED_LANE_(3, name_, request_, reply_, state_, gyre_none, state, gyre_buffers_)
#define GYRE_ACTOR_WITH(name_, request_, reply_, state_, buffers_)                                           \
    GYRE_WIRED_LANE_(3, name_, request_, reply_, state_, buffers_, state, buffers)
#define GYRE_BLOCK_KERNEL(name_, request_, reply_, scratch_)                                                 \
    GYRE_WIRED_BLOCK_(name_, request_, reply_, scratch_, gyre_none, gyre_none, gyre_state_, gyre_buffers_)
#define GYRE_BLOCK_KERNEL_WITH(name_, request_, reply_, scratch_, state_, buffers_)                          \
    GYRE_WIRED_BLOCK_(name_, request_, reply_, scratch_, state_, buffers_, state, buffers)

#endif
