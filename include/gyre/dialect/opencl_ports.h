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
#define GYRE_PORT_NUMBERS_(symbol_, LIST_, number_)                                                          \
    __constant gyre_u32 symbol_[] = {LIST_(number_)};                                                        \
    GYRE_ITEM_(symbol_, 0, 0, symbol_, sizeof symbol_)

/* What a call may emit to each port stands beside the text: `most_` may be an enumerator, whose text says no number. */
#define GYRE_PORTS(name_, LIST_)                                                                             \
    enum { gyre_ports_of_##name_ = 0 LIST_(GYRE_PORT_) };                                                    \
    _Static_assert(gyre_ports_of_##name_ >= 1 && gyre_ports_of_##name_ <= GYRE_PORTS_MAX,                    \
                   "ports " #name_ ": a kernel has 1 to " GYRE_TEXT_(                                        \
                       GYRE_PORTS_MAX) " ports, and this list has more, or none");                           \
    LIST_(GYRE_PORT_MOST_)                                                                                   \
    typedef struct name_ {                                                                                   \
        LIST_(GYRE_PORT_MEMBER_)                                                                             \
    } name_;                                                                                                 \
    GYRE_EXPORTED_TEXT_(gyre_ports_text_##name_, LIST_(GYRE_PORT_TEXT_))                                     \
    GYRE_PORT_NUMBERS_(gyre_ports_most_##name_, LIST_, GYRE_PORT_COUNT_)                                     \
    GYRE_PORT_NUMBERS_(gyre_ports_least_##name_, LIST_, GYRE_PORT_LEAST_)

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

GYRE_HELPER gyre_u32 gyre_hop(const gyre_context *gyre)
{
    return GYRE_ORIGIN_HOPS(gyre->origin);
}

GYRE_HELPER gyre_u64 gyre_flow_id(const gyre_context *gyre)
{
    return gyre->flow_id;
}

#endif
