/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forms of kernels with ports, as their authors declare them. Included by the dialects that have ports, behind
 * forms.h. A dialect defines
 *
 *   GYRE_DECLARE_LANE_TO_(form, name, request, reply, scratch, state, buffers, ports)
 *   GYRE_DECLARE_BLOCK_TO_(the same parameters)   both declare gyre_handler_<name>, and define the code that calls it
 *   GYRE_DECLARE_KEYED_TO_(name, request, reply, ports, state, key, hooks, reminds)
 *   GYRE_PORTS_AT_(ports, context)   a pointer to the ports of the current call, of that type
 */
#ifndef GYRE_DIALECT_PORTS_H
#define GYRE_DIALECT_PORTS_H

/* Declares a handler as GYRE_HANDLER_NAMED_ does, with its ports behind the other parameters. */
#define GYRE_HANDLER_TO_NAMED_(restrict_, name_, request_, reply_, scratch_, state_, buffers_, ports_,       \
                               the_scratch_, the_state_, the_buffers_)                                       \
    GYRE_HELPER gyre_result gyre_handler_##name_(                                                            \
        const GYRE_GLOBAL request_ *GYRE_RESTRICT_ request GYRE_UNUSED_,                                     \
        GYRE_GLOBAL reply_ *restrict_ reply GYRE_UNUSED_, GYRE_GLOBAL state_ *the_state_ GYRE_UNUSED_,       \
        GYRE_SHARED scratch_ *the_scratch_ GYRE_UNUSED_, const buffers_ *the_buffers_ GYRE_UNUSED_,          \
        gyre_context *gyre GYRE_UNUSED_, ports_ *ports GYRE_UNUSED_)
#define GYRE_HANDLER_TO_(name_, request_, reply_, scratch_, state_, buffers_, ports_)                        \
    GYRE_HANDLER_TO_NAMED_(, name_, request_, reply_, scratch_, state_, buffers_, ports_, scratch, state,    \
                           buffers)

/* the numbers are those of gyre_form in backend.h, which kernels do not include */
#define GYRE_KERNEL_TO_WITH(name_, request_, reply_, ports_, state_, buffers_)                               \
    GYRE_DECLARE_LANE_TO_(1, name_, request_, reply_, gyre_none, state_, buffers_, ports_)                   \
    GYRE_HANDLER_TO_NAMED_(GYRE_RESTRICT_, name_, request_, reply_, gyre_none, state_, buffers_, ports_,     \
                           gyre_scratch_, state, buffers)
#define GYRE_KERNEL_TO(name_, request_, reply_, ports_)                                                      \
    GYRE_DECLARE_LANE_TO_(1, name_, request_, reply_, gyre_none, gyre_none, gyre_none, ports_)               \
    GYRE_HANDLER_TO_NAMED_(GYRE_RESTRICT_, name_, request_, reply_, gyre_none, gyre_none, gyre_none, ports_, \
                           gyre_scratch_, gyre_state_, gyre_buffers_)

#define GYRE_BLOCK_KERNEL_TO_WITH(name_, request_, reply_, ports_, scratch_, state_, buffers_)               \
    GYRE_DECLARE_BLOCK_TO_(2, name_, request_, reply_, scratch_, state_, buffers_, ports_)                   \
    GYRE_HANDLER_TO_(name_, request_, reply_, scratch_, state_, buffers_, ports_)
#define GYRE_BLOCK_KERNEL_TO(name_, request_, reply_, ports_, scratch_)                                      \
    GYRE_DECLARE_BLOCK_TO_(2, name_, request_, reply_, scratch_, gyre_none, gyre_none, ports_)               \
    GYRE_HANDLER_TO_NAMED_(, name_, request_, reply_, scratch_, gyre_none, gyre_none, ports_, scratch,       \
                           gyre_state_, gyre_buffers_)

#define GYRE_GRID_KERNEL_TO_WITH(name_, request_, reply_, ports_, scratch_, state_, buffers_)                \
    GYRE_GRID_MARK_(name_)                                                                                   \
    GYRE_DECLARE_BLOCK_TO_(5, name_, request_, reply_, scratch_, state_, buffers_, ports_)                   \
    GYRE_HANDLER_TO_(name_, request_, reply_, scratch_, state_, buffers_, ports_)
#define GYRE_GRID_KERNEL_TO(name_, request_, reply_, ports_, scratch_)                                       \
    GYRE_GRID_MARK_(name_)                                                                                   \
    GYRE_DECLARE_BLOCK_TO_(5, name_, request_, reply_, scratch_, gyre_none, gyre_none, ports_)               \
    GYRE_HANDLER_TO_NAMED_(, name_, request_, reply_, scratch_, gyre_none, gyre_none, ports_, scratch,       \
                           gyre_state_, gyre_buffers_)

#define GYRE_ACTOR_TO_WITH(name_, request_, reply_, ports_, state_, buffers_)                                \
    GYRE_DECLARE_LANE_TO_(3, name_, request_, reply_, gyre_none, state_, buffers_, ports_)                   \
    GYRE_HANDLER_TO_NAMED_(GYRE_RESTRICT_, name_, request_, reply_, gyre_none, state_, buffers_, ports_,     \
                           gyre_scratch_, state, buffers)
#define GYRE_ACTOR_TO(name_, request_, reply_, ports_, state_)                                               \
    GYRE_DECLARE_LANE_TO_(3, name_, request_, reply_, gyre_none, state_, gyre_none, ports_)                  \
    GYRE_HANDLER_TO_NAMED_(GYRE_RESTRICT_, name_, request_, reply_, gyre_none, state_, gyre_none, ports_,    \
                           gyre_scratch_, state, gyre_buffers_)

/* ---- keyed actors (forms.h), whose hooks emit nothing ---- */

#define GYRE_KEYED_HANDLER_TO_(name_, request_, reply_, ports_, state_)                                      \
    GYRE_KEYED_MARK_(name_)                                                                                  \
    GYRE_HANDLER_TO_NAMED_(GYRE_RESTRICT_, name_, request_, reply_, gyre_none, state_, gyre_none, ports_,    \
                           gyre_scratch_, state, gyre_buffers_)
#define GYRE_KEYED_ACTOR_TO(name_, request_, reply_, ports_, state_, key_)                                   \
    GYRE_DECLARE_KEYED_TO_(name_, request_, reply_, ports_, state_, key_, GYRE_KEYED_NO_HOOKS_, 0)           \
    GYRE_KEYED_HANDLER_TO_(name_, request_, reply_, ports_, state_)
#define GYRE_KEYED_ACTOR_LIVES_TO(name_, request_, reply_, ports_, state_, key_)                             \
    GYRE_DECLARE_LIVES_(name_, request_, state_)                                                             \
    GYRE_DECLARE_KEYED_TO_(name_, request_, reply_, ports_, state_, key_, GYRE_KEYED_HOOKS_(name_), 0)       \
    GYRE_KEYED_HANDLER_TO_(name_, request_, reply_, ports_, state_)
#define GYRE_KEYED_ACTOR_REMINDED_TO(name_, request_, reply_, ports_, state_, key_)                          \
    GYRE_DECLARE_REMINDED_(name_, state_)                                                                    \
    GYRE_DECLARE_KEYED_TO_(name_, request_, reply_, ports_, state_, key_, GYRE_KEYED_REMINDS_(name_),        \
                           gyre_fires_##name_)                                                               \
    GYRE_KEYED_HANDLER_TO_(name_, request_, reply_, ports_, state_)
#define GYRE_KEYED_ACTOR_LIVES_REMINDED_TO(name_, request_, reply_, ports_, state_, key_)                    \
    GYRE_DECLARE_LIVES_(name_, request_, state_)                                                             \
    GYRE_DECLARE_REMINDED_(name_, state_)                                                                    \
    GYRE_DECLARE_KEYED_TO_(name_, request_, reply_, ports_, state_, key_, GYRE_KEYED_ALL_HOOKS_(name_),      \
                           gyre_fires_##name_)                                                               \
    GYRE_KEYED_HANDLER_TO_(name_, request_, reply_, ports_, state_)

/* ---- kernels of several types (choices.h) ---- */

#define GYRE_KERNEL_OF_TO_WITH(name_, LIST_, ports_, state_, buffers_)                                       \
    typedef ports_ gyre_ports_to_##name_;                                                                    \
    GYRE_CHOICE_TYPES_(name_, LIST_, gyre_none, state_, buffers_)                                            \
    GYRE_KERNEL_TO_WITH(name_, name_##_request, name_##_reply, ports_, state_, buffers_)                     \
    GYRE_CHOICE_BODY_(LIST_, GYRE_CHOICE_CASE_, gyre_scratch_, 1)
#define GYRE_KERNEL_OF_TO(name_, LIST_, ports_)                                                              \
    GYRE_KERNEL_OF_TO_WITH(name_, LIST_, ports_, gyre_none, gyre_none)

#define GYRE_ACTOR_OF_TO_WITH(name_, LIST_, ports_, state_, buffers_)                                        \
    typedef ports_ gyre_ports_to_##name_;                                                                    \
    GYRE_CHOICE_TYPES_(name_, LIST_, gyre_none, state_, buffers_)                                            \
    GYRE_ACTOR_TO_WITH(name_, name_##_request, name_##_reply, ports_, state_, buffers_)                      \
    GYRE_CHOICE_BODY_(LIST_, GYRE_CHOICE_CASE_, gyre_scratch_, 1)
#define GYRE_ACTOR_OF_TO(name_, LIST_, ports_, state_)                                                       \
    GYRE_ACTOR_OF_TO_WITH(name_, LIST_, ports_, state_, gyre_none)

#define GYRE_BLOCK_KERNEL_OF_TO_WITH(name_, LIST_, ports_, scratch_, state_, buffers_)                       \
    typedef ports_ gyre_ports_to_##name_;                                                                    \
    GYRE_CHOICE_TYPES_(name_, LIST_, scratch_, state_, buffers_)                                             \
    GYRE_BLOCK_KERNEL_TO_WITH(name_, name_##_request, name_##_reply, ports_, scratch_, state_, buffers_)     \
    GYRE_CHOICE_BODY_(LIST_, GYRE_CHOICE_BLOCK_CASE_, scratch, gyre_lane(gyre) == 0)
#define GYRE_BLOCK_KERNEL_OF_TO(name_, LIST_, ports_, scratch_)                                              \
    GYRE_BLOCK_KERNEL_OF_TO_WITH(name_, LIST_, ports_, scratch_, gyre_none, gyre_none)

/* Declares the handler of one type as GYRE_HANDLER does. It has the ports of its kernel, which the context names. */
#define GYRE_TYPED_HANDLER_TO_(name_, request_, reply_)                                                      \
    GYRE_HELPER gyre_result gyre_typed_##request_(                                                           \
        const GYRE_GLOBAL request_ *request GYRE_UNUSED_, GYRE_GLOBAL reply_ *reply GYRE_UNUSED_,            \
        GYRE_GLOBAL gyre_state_of_##name_ *state GYRE_UNUSED_,                                               \
        GYRE_SHARED gyre_scratch_of_##name_ *scratch GYRE_UNUSED_,                                           \
        const gyre_buffers_of_##name_ *buffers GYRE_UNUSED_, gyre_context *gyre GYRE_UNUSED_,                \
        gyre_ports_to_##name_ *ports GYRE_UNUSED_)
#define GYRE_HANDLER_TO(name_, request_, reply_)                                                             \
    GYRE_TYPED_HANDLER_TO_(name_, request_, reply_);                                                         \
    GYRE_HELPER gyre_result gyre_takes_##request_(                                                           \
        const GYRE_GLOBAL request_ *gyre_its_request_, GYRE_GLOBAL reply_ *gyre_its_reply_,                  \
        GYRE_GLOBAL void *gyre_its_state_, GYRE_SHARED void *gyre_its_scratch_,                              \
        const void *gyre_its_buffers_, gyre_context *gyre_its_context_)                                      \
    {                                                                                                        \
        return gyre_typed_##request_(gyre_its_request_, gyre_its_reply_,                                     \
                                     (GYRE_GLOBAL gyre_state_of_##name_ *)gyre_its_state_,                   \
                                     (GYRE_SHARED gyre_scratch_of_##name_ *)gyre_its_scratch_,               \
                                     (const gyre_buffers_of_##name_ *)gyre_its_buffers_, gyre_its_context_,  \
                                     GYRE_PORTS_AT_(gyre_ports_to_##name_, gyre_its_context_));              \
    }                                                                                                        \
    GYRE_TYPED_HANDLER_TO_(name_, request_, reply_)

#endif
