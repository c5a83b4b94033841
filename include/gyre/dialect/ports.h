/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forms of kernels with ports, as their authors declare them. Included by the dialects that have ports, behind
 * forms.h. A dialect defines
 *
 *   GYRE_DECLARE_LANE_TO_(form, name, request, reply, scratch, state, buffers, ports)
 *   GYRE_DECLARE_BLOCK_TO_(the same parameters)   both declare gyre_handler_<name>, and define the code that calls it
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

#define GYRE_ACTOR_TO_WITH(name_, request_, reply_, ports_, state_, buffers_)                                \
    GYRE_DECLARE_LANE_TO_(3, name_, request_, reply_, gyre_none, state_, buffers_, ports_)                   \
    GYRE_HANDLER_TO_NAMED_(GYRE_RESTRICT_, name_, request_, reply_, gyre_none, state_, buffers_, ports_,     \
                           gyre_scratch_, state, buffers)
#define GYRE_ACTOR_TO(name_, request_, reply_, ports_, state_)                                               \
    GYRE_DECLARE_LANE_TO_(3, name_, request_, reply_, gyre_none, state_, gyre_none, ports_)                  \
    GYRE_HANDLER_TO_NAMED_(GYRE_RESTRICT_, name_, request_, reply_, gyre_none, state_, gyre_none, ports_,    \
                           gyre_scratch_, state, gyre_buffers_)

#endif
