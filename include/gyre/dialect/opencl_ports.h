/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels with ports, as OpenCL C: GYRE_PORTS, the declaration of such kernels, and gyre_emit. Included by device.h in
 * files that are compiled with GYRE_STAGE = 1: their kernels can be stages of a pipeline (opencl_flows.h).
 *
 * A struct that GYRE_PORTS declares lies over an array of gyre_opencl_port, which the entry fills in for each message.
 * What a call emits lies behind its reply, and the host moves it to the links when the epoch has ended.
 */
#ifndef GYRE_DIALECT_OPENCL_PORTS_H
#define GYRE_DIALECT_OPENCL_PORTS_H

/** Where one call's messages of one port go: `places` + n * stride for the n-th. */
typedef struct gyre_opencl_port {
    __global gyre_u8 *places;
    gyre_u32 stride, most, emitted;
} gyre_opencl_port;

/* ---- declaring ports ---- */

/*
 * A port. Only `gyre_port` is read and written. The other members are there for their types: what a message is, and one
 * byte more than a message with an empty tail has; that is one byte where no message has a tail.
 */
#define GYRE_PORT_MEMBER_(type_, name_, most_)                                                               \
    union {                                                                                                  \
        gyre_opencl_port gyre_port;                                                                          \
        __global type_ *gyre_typed;                                                                          \
        char (                                                                                               \
            *gyre_empty)[1 + ((int)gyre_size_##type_ == (int)gyre_least_##type_ ? 0 : gyre_least_##type_)];  \
    } name_;
#define GYRE_PORT_(type_, name_, most_)       +1
#define GYRE_PORT_TEXT_(type_, name_, most_)  #type_ " " #name_ ";"
#define GYRE_PORT_COUNT_(type_, name_, most_) (gyre_u32)(most_),
#define GYRE_PORT_LEAST_(type_, name_, most_) (gyre_u32) gyre_least_##type_,
#define GYRE_PORT_MOST_(type_, name_, most_)                                                                 \
    _Static_assert((most_) >= 1 && (most_) <= GYRE_PORT_MOST_MAX,                                            \
                   "port " GYRE_TEXT_(name_) ": one call may emit 1 to " GYRE_TEXT_(                         \
                       GYRE_PORT_MOST_MAX) " messages to it, and its third word is " GYRE_TEXT_(most_));
/*
 * A port that asks. Its member has another name than that of a port that does not, so that gyre_emit and gyre_ask are each for
 * one of them.
 */
#define GYRE_ASK_MEMBER_(type_, reply_, name_, most_)                                                        \
    union {                                                                                                  \
        gyre_opencl_port gyre_port;                                                                          \
        __global type_ *gyre_asked;                                                                          \
        char (                                                                                               \
            *gyre_empty)[1 + ((int)gyre_size_##type_ == (int)gyre_least_##type_ ? 0 : gyre_least_##type_)];  \
    } name_;
#define GYRE_ASK_(type_, reply_, name_, most_)       +1
#define GYRE_ASK_TEXT_(type_, reply_, name_, most_)  #type_ " " #name_ " " #reply_ ";"
#define GYRE_ASK_COUNT_(type_, reply_, name_, most_) (gyre_u32)(most_),
#define GYRE_ASK_LEAST_(type_, reply_, name_, most_) (gyre_u32) gyre_least_##type_,
#define GYRE_ASK_MOST_(type_, reply_, name_, most_)                                                          \
    _Static_assert(                                                                                          \
        (int)gyre_size_##reply_ > 0,                                                                         \
        "port " GYRE_TEXT_(name_) ": an answer is a message, and its second word is " GYRE_TEXT_(reply_));   \
    GYRE_PORT_MOST_(type_, name_, most_)

/* What a call may emit to each port stands beside the text: `most_` may be an enumerator, whose text says no number. */
#define GYRE_PORTS_AS_(name_, count_, asserts_, members_, texts_, numbers_, leasts_)                         \
    enum { gyre_ports_of_##name_ = 0 count_ };                                                               \
    _Static_assert(gyre_ports_of_##name_ >= 1 && gyre_ports_of_##name_ <= GYRE_PORTS_MAX,                    \
                   "ports " #name_ ": a kernel has 1 to " GYRE_TEXT_(                                        \
                       GYRE_PORTS_MAX) " ports, and this list has more, or none");                           \
    asserts_ typedef struct name_ {                                                                          \
        members_                                                                                             \
    } name_;                                                                                                 \
    GYRE_EXPORTED_TEXT_(gyre_ports_text_##name_, texts_)                                                     \
    __constant gyre_u32 gyre_ports_most_##name_[] = {numbers_};                                              \
    GYRE_ITEM_(gyre_ports_most_##name_, 0, 0, gyre_ports_most_##name_, sizeof gyre_ports_most_##name_)       \
    __constant gyre_u32 gyre_ports_least_##name_[] = {leasts_};                                              \
    GYRE_ITEM_(gyre_ports_least_##name_, 0, 0, gyre_ports_least_##name_, sizeof gyre_ports_least_##name_)
#define GYRE_PORTS(name_, LIST_)                                                                             \
    GYRE_PORTS_AS_(name_, LIST_(GYRE_PORT_), LIST_(GYRE_PORT_MOST_), LIST_(GYRE_PORT_MEMBER_),               \
                   LIST_(GYRE_PORT_TEXT_), LIST_(GYRE_PORT_COUNT_), LIST_(GYRE_PORT_LEAST_))
#define GYRE_PORTS_WITH_ASKS(name_, LIST_)                                                                   \
    GYRE_PORTS_AS_(name_, LIST_(GYRE_PORT_, GYRE_ASK_), LIST_(GYRE_PORT_MOST_, GYRE_ASK_MOST_),              \
                   LIST_(GYRE_PORT_MEMBER_, GYRE_ASK_MEMBER_), LIST_(GYRE_PORT_TEXT_, GYRE_ASK_TEXT_),       \
                   LIST_(GYRE_PORT_COUNT_, GYRE_ASK_COUNT_), LIST_(GYRE_PORT_LEAST_, GYRE_ASK_LEAST_))

/* ---- declaring kernels ---- */

#define GYRE_PORTS_AT_(ports_, context_) ((ports_ *)(context_)->ports)

#define GYRE_DECLARE_TO_(entry_, form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)         \
    GYRE_HANDLER_TO_(name_, request_, reply_, scratch_, state_, buffers_, ports_);                           \
    _Static_assert(sizeof(ports_) == gyre_ports_of_##ports_ * sizeof(gyre_opencl_port), "layout");           \
    GYRE_EXPORTED_TEXT_(gyre_leads_##name_, #ports_)                                                         \
    GYRE_DESCRIBE_KERNEL_(form_, name_, request_, reply_, scratch_, state_, buffers_)                        \
    entry_(form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)

#define GYRE_DECLARE_LANE_TO_(form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)            \
    GYRE_DECLARE_TO_(GYRE_ENTRY_LANE_TO_, form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)
#define GYRE_DECLARE_BLOCK_TO_(form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)           \
    GYRE_DECLARE_TO_(GYRE_ENTRY_BLOCK_TO_, form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)

#include "gyre/dialect/ports.h"

/* ---- what handlers call ---- */

#define gyre_emit(gyre_, port_)                                                                              \
    ((__typeof__((ports)->port_.gyre_typed))gyre_emit_((gyre_), &(ports)->port_.gyre_port,                   \
                                                       (gyre_u32)sizeof(*(ports)->port_.gyre_empty) - 1))

/*
 * Returns the next place, or NULL. A message with a tail is empty there. `least` is its size then; 0: the message has no
 * tail, and its bytes are those of an earlier message.
 */
GYRE_HELPER __global void *gyre_emit_(gyre_context *gyre, gyre_opencl_port *port, gyre_u32 least)
{
    if (port->emitted >= port->most)
        return 0;
    __global gyre_u8 *place = port->places + (gyre_u64)port->emitted * port->stride;
    port->emitted++;
    if (gyre->in_block && gyre->lane > 0)
        gyre_fail_(gyre, GYRE_FAILURE_PORT, "in a block kernel lane 0 emits");
    for (gyre_u32 i = 0; i < least; i += 4)
        *(__global gyre_u32 *)(place + i) = i ? 0 : least;
    return (__global void *)place;
}

#define gyre_ask(gyre_, port_, token_)                                                                       \
    ((__typeof__((ports)->port_.gyre_asked))gyre_ask_((gyre_), &(ports)->port_.gyre_port, (token_),          \
                                                      (gyre_u32)sizeof(*(ports)->port_.gyre_empty) - 1))

/* As gyre_emit_, of a port that asks. The host finds the token in front of the message. */
GYRE_HELPER __global void *gyre_ask_(gyre_context *gyre, gyre_opencl_port *port, gyre_u32 token,
                                     gyre_u32 least)
{
    __global gyre_u8 *place = (__global gyre_u8 *)gyre_emit_(gyre, port, least);
    if (token == 0)
        gyre_fail_(gyre, GYRE_FAILURE_PORT, "gyre_ask: a token is not 0");
    if (place)
        *(__global gyre_u32 *)(place - GYRE_CELL_ASK) = token;
    return (__global void *)place;
}

GYRE_HELPER gyre_u32 gyre_token(const gyre_context *gyre)
{
    return gyre->token;
}

/* A kernel that begins rounds asks nobody, so it gets no answers, and no other tokens. Elsewhere this is gyre_token, and no round. */
GYRE_HELPER gyre_u32 gyre_round(const gyre_context *gyre)
{
    return gyre->token;
}

/* ---- memory of flows ---- */

#define GYRE_FLOW(kernel_, type_)                                                                            \
    _Static_assert(sizeof(type_) <= GYRE_FLOW_SIZE_MAX,                                                      \
                   "GYRE_FLOW of kernel " #kernel_ ": at most " GYRE_TEXT_(GYRE_FLOW_SIZE_MAX) " bytes");    \
    typedef type_ gyre_flow_of_##kernel_;                                                                    \
    __constant gyre_u32 gyre_flow_size_##kernel_[] = {(gyre_u32)sizeof(type_)};                              \
    GYRE_ITEM_(gyre_flow_size_##kernel_, 0, 0, gyre_flow_size_##kernel_, sizeof gyre_flow_size_##kernel_)
#define gyre_flow(gyre_, kernel_)                                                                            \
    ((__global gyre_flow_of_##kernel_ *)gyre_flow_((gyre_), (gyre_u32)sizeof(gyre_flow_of_##kernel_)))

/* A handler that names another kernel than its own fails, and what it writes there has room. */
GYRE_HELPER __global void *gyre_flow_(gyre_context *gyre, gyre_u32 size)
{
    if (size != gyre->memory_size)
        gyre_fail_(gyre, GYRE_FAILURE_PORT, "gyre_flow: of another kernel than its own");
    return gyre->memory;
}

/* ---- being called again ---- */

#define GYRE_MORE ((void)(ports), gyre_more_(gyre))

/* Asks for another call with the same message. Its result is one without a reply. */
GYRE_HELPER gyre_result gyre_more_(gyre_context *gyre)
{
    gyre->again = 1;
    return GYRE_NO_REPLY;
}

GYRE_HELPER gyre_u32 gyre_turn(const gyre_context *gyre)
{
    return gyre->turn;
}

GYRE_HELPER gyre_u32 gyre_hop(const gyre_context *gyre)
{
    return GYRE_ORIGIN_HOPS(gyre->origin);
}

GYRE_HELPER gyre_u64 gyre_flow_id(const gyre_context *gyre)
{
    return gyre->flow_id;
}

#endif
