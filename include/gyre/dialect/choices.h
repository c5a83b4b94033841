/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels with a handler for each of several message types, in every dialect. Included by kernel.h.
 *
 * The kernel itself has one of the usual forms, for the messages of its protocol (GYRE_PROTOCOL). Its handler is
 * generated here: it looks at the number of the type, checks the message inside as if it had come alone, and calls the
 * handler of its type.
 */
#ifndef GYRE_DIALECT_CHOICES_H
#define GYRE_DIALECT_CHOICES_H

#define GYRE_TYPE_TEXT_ "no handler for this type"

/*
 * Declares an untyped handler for a type. The typed handlers come after the kernel in the file, so that they know its
 * state; the kernel calls them through the untyped handlers.
 */
#define GYRE_CHOICE_FORWARD_(request_, reply_)                                                               \
    GYRE_HELPER gyre_result gyre_takes_##request_(                                                           \
        const GYRE_GLOBAL request_ *gyre_its_request_, GYRE_GLOBAL reply_ *gyre_its_reply_,                  \
        GYRE_GLOBAL void *gyre_its_state_, GYRE_SHARED void *gyre_its_scratch_,                              \
        const void *gyre_its_buffers_, gyre_context *gyre_its_context_);

/*
 * Calls the handler of one type. Within the kernel's function its parameters may hide the user's types, so this code
 * names no type of the user's.
 */
#define GYRE_CHOICE_CASE_AS_(request_, reply_, meet_, leave_)                                                \
    gyre_number_++;                                                                                          \
    if (gyre_chosen_ == gyre_number_) {                                                                      \
        const GYRE_GLOBAL void *gyre_asked_ = &request->gyre_one.gyre_of_##request_;                         \
        GYRE_GLOBAL void *gyre_given_ = &reply->gyre_one.gyre_of_##request_;                                 \
        const gyre_u32 gyre_least_ = gyre_least_##reply_, gyre_size_ = gyre_size_##reply_;                   \
        const gyre_u32 gyre_said_ = GYRE_CHOICE_WORD_(gyre_asked_);                                          \
        if (GYRE_LENGTH_WRONG_(gyre_length_, (gyre_u32)gyre_least_##request_,                                \
                               (gyre_u32)gyre_size_##request_, gyre_said_))                                  \
            return gyre_fail_(gyre, GYRE_FAILURE_LENGTH, GYRE_LENGTH_TEXT_);                                 \
        if (!gyre_admit_##request_(gyre, &request->gyre_one.gyre_of_##request_))                             \
            return GYRE_FAILED;                                                                              \
        if (gyre_writes_) {                                                                                  \
            gyre_zero_(gyre, (GYRE_GLOBAL gyre_u8 *)gyre_given_, gyre_least_);                               \
            gyre_clear_##reply_(&reply->gyre_one.gyre_of_##request_);                                        \
        }                                                                                                    \
        meet_;                                                                                               \
        const gyre_result gyre_outcome_ = gyre_takes_##request_(                                             \
            &request->gyre_one.gyre_of_##request_, &reply->gyre_one.gyre_of_##request_,                      \
            (GYRE_GLOBAL void *)state, gyre_shared_, (const void *)buffers, gyre);                           \
        leave_;                                                                                              \
        if (gyre_writes_) {                                                                                  \
            const gyre_u32 gyre_used_now_ = GYRE_CHOICE_WORD_(gyre_given_);                                  \
            reply->gyre_choice = gyre_number_;                                                               \
            reply->gyre_used =                                                                               \
                GYRE_CHOICE_FRONT + GYRE_REPLY_LENGTH_(gyre_least_, gyre_size_, gyre_used_now_);             \
        }                                                                                                    \
        return gyre_size_ == 0 && gyre_outcome_ == GYRE_REPLY ? GYRE_NO_REPLY : gyre_outcome_;               \
    }
#define GYRE_CHOICE_CASE_(request_, reply_) GYRE_CHOICE_CASE_AS_(request_, reply_, (void)0, (void)0)
#ifdef GYRE_DIALECT_OPENCL
/*
 * Lanes leave a handler together. In a loop at a handler's end, PoCL 5 lets lanes read what lies beyond the loop,
 * unless a barrier follows.
 */
#define GYRE_CHOICE_LEAVE_ gyre_together_()
#else
#define GYRE_CHOICE_LEAVE_ (void)0
#endif
/* The case of a block kernel: no lane writes into the reply before the reply is cleared. */
#define GYRE_CHOICE_BLOCK_CASE_(request_, reply_)                                                            \
    GYRE_CHOICE_CASE_AS_(request_, reply_, gyre_barrier(gyre), GYRE_CHOICE_LEAVE_)
#ifndef GYRE_CHOICE_WORD_ /* c11_watched.h has its own */
#define GYRE_CHOICE_WORD_(message_) (*(const GYRE_GLOBAL gyre_u32 *)(const GYRE_GLOBAL void *)(message_))
#endif

/*
 * The body of the kernel's generated handler. `case_` is the form's macro for one type. `writes_` says whether this
 * lane writes the reply.
 */
#define GYRE_CHOICE_BODY_(LIST_, case_, scratch_, writes_)                                                   \
    {                                                                                                        \
        GYRE_SHARED void *gyre_shared_ = (GYRE_SHARED void *)(scratch_);                                     \
        const int gyre_writes_ = (writes_);                                                                  \
        const gyre_u32 gyre_chosen_ = request->gyre_choice;                                                  \
        const gyre_u32 gyre_length_ = request->gyre_used - GYRE_CHOICE_FRONT;                                \
        gyre_u32 gyre_number_ = 0;                                                                           \
        LIST_(case_)                                                                                         \
        return gyre_fail_(gyre, GYRE_FAILURE_TYPE, GYRE_TYPE_TEXT_);                                         \
    }

#define GYRE_CHOICE_TYPES_(name_, LIST_, scratch_, state_, buffers_)                                         \
    typedef scratch_ gyre_scratch_of_##name_;                                                                \
    typedef state_ gyre_state_of_##name_;                                                                    \
    typedef buffers_ gyre_buffers_of_##name_;                                                                \
    typedef gyre_seen_##buffers_ gyre_visible_to_##name_;                                                    \
    GYRE_HELPER void gyre_show_##name_(gyre_visible_to_##name_ *gyre_its_seen_,                              \
                                       const void *gyre_its_buffers_)                                        \
    {                                                                                                        \
        gyre_see_##buffers_(gyre_its_seen_, (const buffers_ *)gyre_its_buffers_);                            \
    }                                                                                                        \
    LIST_(GYRE_CHOICE_FORWARD_)

#define GYRE_KERNEL_OF_WITH(name_, LIST_, state_, buffers_)                                                  \
    GYRE_CHOICE_TYPES_(name_, LIST_, gyre_none, state_, buffers_)                                            \
    GYRE_PLAIN_KERNEL_(1, name_, name_##_request, name_##_reply, state_, buffers_)                           \
    GYRE_CHOICE_BODY_(LIST_, GYRE_CHOICE_CASE_, gyre_scratch_, 1)
#define GYRE_KERNEL_OF(name_, LIST_) GYRE_KERNEL_OF_WITH(name_, LIST_, gyre_none, gyre_none)

#define GYRE_ACTOR_OF_WITH(name_, LIST_, state_, buffers_)                                                   \
    GYRE_CHOICE_TYPES_(name_, LIST_, gyre_none, state_, buffers_)                                            \
    GYRE_PLAIN_KERNEL_(3, name_, name_##_request, name_##_reply, state_, buffers_)                           \
    GYRE_CHOICE_BODY_(LIST_, GYRE_CHOICE_CASE_, gyre_scratch_, 1)
#define GYRE_ACTOR_OF(name_, LIST_, state_) GYRE_ACTOR_OF_WITH(name_, LIST_, state_, gyre_none)

#define GYRE_BLOCK_KERNEL_OF_WITH(name_, LIST_, scratch_, state_, buffers_)                                  \
    GYRE_CHOICE_TYPES_(name_, LIST_, scratch_, state_, buffers_)                                             \
    GYRE_PLAIN_BLOCK_KERNEL_(name_, name_##_request, name_##_reply, scratch_, state_, buffers_)              \
    GYRE_CHOICE_BODY_(LIST_, GYRE_CHOICE_BLOCK_CASE_, scratch, gyre_lane(gyre) == 0)
#define GYRE_BLOCK_KERNEL_OF(name_, LIST_, scratch_)                                                         \
    GYRE_BLOCK_KERNEL_OF_WITH(name_, LIST_, scratch_, gyre_none, gyre_none)

/*
 * Declares the handler of one type. Its parameters are those of any handler; `state` and `buffers` are the kernel's.
 */
#define GYRE_TYPED_HANDLER_(name_, request_, reply_)                                                         \
    GYRE_HELPER gyre_result gyre_typed_##request_(                                                           \
        const GYRE_GLOBAL request_ *request GYRE_UNUSED_, GYRE_GLOBAL reply_ *reply GYRE_UNUSED_,            \
        GYRE_GLOBAL gyre_state_of_##name_ *state GYRE_UNUSED_,                                               \
        GYRE_SHARED gyre_scratch_of_##name_ *scratch GYRE_UNUSED_,                                           \
        const gyre_buffers_of_##name_ *buffers GYRE_UNUSED_, gyre_context *gyre GYRE_UNUSED_)
#define GYRE_HANDLER(name_, request_, reply_)                                                                \
    GYRE_TYPED_HANDLER_(name_, request_, reply_);                                                            \
    GYRE_HELPER gyre_result gyre_takes_##request_(                                                           \
        const GYRE_GLOBAL request_ *gyre_its_request_, GYRE_GLOBAL reply_ *gyre_its_reply_,                  \
        GYRE_GLOBAL void *gyre_its_state_, GYRE_SHARED void *gyre_its_scratch_,                              \
        const void *gyre_its_buffers_, gyre_context *gyre_its_context_)                                      \
    {                                                                                                        \
        return gyre_typed_##request_(gyre_its_request_, gyre_its_reply_,                                     \
                                     (GYRE_GLOBAL gyre_state_of_##name_ *)gyre_its_state_,                   \
                                     (GYRE_SHARED gyre_scratch_of_##name_ *)gyre_its_scratch_,               \
                                     (const gyre_buffers_of_##name_ *)gyre_its_buffers_, gyre_its_context_); \
    }                                                                                                        \
    GYRE_TYPED_HANDLER_(name_, request_, reply_)

/*
 * Declares the handler of a type that asks and changes nothing: it can only read state and buffers. The dialect's
 * GYRE_QUERY_MARK_ reports the type to the backend, so that the core need not keep such a request in a journal, nor
 * have it handled again from a checkpoint on.
 */
#define GYRE_TYPED_QUERY_(name_, request_, reply_)                                                           \
    GYRE_HELPER gyre_result gyre_typed_##request_(                                                           \
        const GYRE_GLOBAL request_ *request GYRE_UNUSED_, GYRE_GLOBAL reply_ *reply GYRE_UNUSED_,            \
        const GYRE_GLOBAL gyre_state_of_##name_ *state GYRE_UNUSED_,                                         \
        GYRE_SHARED gyre_scratch_of_##name_ *scratch GYRE_UNUSED_,                                           \
        const gyre_visible_to_##name_ *buffers GYRE_UNUSED_, gyre_context *gyre GYRE_UNUSED_)
#define GYRE_QUERY(name_, request_, reply_)                                                                  \
    GYRE_QUERY_MARK_(request_)                                                                               \
    GYRE_TYPED_QUERY_(name_, request_, reply_);                                                              \
    GYRE_HELPER gyre_result gyre_takes_##request_(                                                           \
        const GYRE_GLOBAL request_ *gyre_its_request_, GYRE_GLOBAL reply_ *gyre_its_reply_,                  \
        GYRE_GLOBAL void *gyre_its_state_, GYRE_SHARED void *gyre_its_scratch_,                              \
        const void *gyre_its_buffers_, gyre_context *gyre_its_context_)                                      \
    {                                                                                                        \
        gyre_visible_to_##name_ gyre_seen_;                                                                  \
        gyre_show_##name_(&gyre_seen_, gyre_its_buffers_);                                                   \
        return gyre_typed_##request_(                                                                        \
            gyre_its_request_, gyre_its_reply_, (const GYRE_GLOBAL gyre_state_of_##name_ *)gyre_its_state_,  \
            (GYRE_SHARED gyre_scratch_of_##name_ *)gyre_its_scratch_, &gyre_seen_, gyre_its_context_);       \
    }                                                                                                        \
    GYRE_TYPED_QUERY_(name_, request_, reply_)

#endif
