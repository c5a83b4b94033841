/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels with ports, as CUDA C++: GYRE_PORTS, the declaration of such kernels, and gyre_emit. Included by device.h in
 * files that are compiled with GYRE_STAGE = 1: their kernels can be stages of a pipeline (cuda_links.h).
 *
 * A struct that GYRE_PORTS declares lies over an array of gyre_cuda_port, which cuda_links.h fills in for each message.
 */
#ifndef GYRE_DIALECT_CUDA_PORTS_H
#define GYRE_DIALECT_CUDA_PORTS_H

#include "gyre/link_layout.h"

/** Where one call's messages of one port go: `slots` + ((next + n) & mask) * stride for the n-th. */
struct gyre_cuda_port {
    gyre_u8 *slots;
    gyre_u32 next, mask, stride;
    gyre_u32 most, emitted;
};

/** A port as a kernel's file declares it. */
struct gyre_cuda_port_type {
    gyre_u32 size, least, most;
#if GYRE_ASKS
    gyre_u32 asks; /* not 0: it is declared with ASK */
#endif
};

/* ---- declaring ports ---- */

/* `gyre_empty_`: what a message with an empty tail takes; 0: its type has no tail. */
template <class T, gyre_u32 empty> struct gyre_cuda_port_to {
    gyre_cuda_port gyre_port;
};

/* `::`, because a port may be called as the type of the next one. */
#define GYRE_PORT_MEMBER_(type_, name_, most_)                                                               \
    gyre_cuda_port_to<::type_,                                                                               \
                      (int)gyre_size_##type_ == (int)gyre_least_##type_ ? 0u : (gyre_u32)gyre_least_##type_> \
        name_;
#define GYRE_PORT_TYPE_(type_, name_, most_)  {gyre_size_##type_, gyre_least_##type_, (most_)},
#define GYRE_PORT_(type_, name_, most_)       +1
#define GYRE_PORT_TEXT_(type_, name_, most_)  #type_ " " #name_ ";"
#define GYRE_PORT_COUNT_(type_, name_, most_) (gyre_u32)(most_),
#define GYRE_PORT_MOST_(type_, name_, most_)                                                                 \
    static_assert((most_) >= 1 && (most_) <= GYRE_PORT_MOST_MAX,                                             \
                  "port " GYRE_TEXT_(name_) ": one call may emit 1 to " GYRE_TEXT_(                          \
                      GYRE_PORT_MOST_MAX) " messages to it, and its third word is " GYRE_TEXT_(most_));

/* What a call may emit to each port stands beside the text: `most_` may be an enumerator, whose text says no number. */
#define GYRE_PORTS_AS_(name_, count_, asserts_, members_, types_, texts_, numbers_)                          \
    enum { gyre_ports_of_##name_ = 0 count_ };                                                               \
    static_assert(gyre_ports_of_##name_ >= 1 && gyre_ports_of_##name_ <= GYRE_PORTS_MAX,                     \
                  "ports " #name_ ": a kernel has 1 to " GYRE_TEXT_(                                         \
                      GYRE_PORTS_MAX) " ports, and this list has more, or none");                            \
    asserts_ struct name_ {                                                                                  \
        members_                                                                                             \
    };                                                                                                       \
    struct gyre_port_types_of_##name_ {                                                                      \
        static __device__ __forceinline__ constexpr gyre_cuda_port_type of(int number)                       \
        {                                                                                                    \
            constexpr gyre_cuda_port_type types[] = {types_};                                                \
            return types[number];                                                                            \
        }                                                                                                    \
    };                                                                                                       \
    GYRE_EXPORTED_TEXT_(gyre_ports_text_##name_, texts_)                                                     \
    extern "C" __device__ gyre_u32 gyre_ports_most_##name_[] = {numbers_};
#define GYRE_PORTS(name_, LIST_)                                                                             \
    GYRE_PORTS_AS_(name_, LIST_(GYRE_PORT_), LIST_(GYRE_PORT_MOST_), LIST_(GYRE_PORT_MEMBER_),               \
                   LIST_(GYRE_PORT_TYPE_), LIST_(GYRE_PORT_TEXT_), LIST_(GYRE_PORT_COUNT_))

/* The ports of a kernel that has none. */
struct gyre_no_ports {
};
struct gyre_port_types_of_gyre_no_ports {
    static __device__ __forceinline__ constexpr gyre_cuda_port_type of(int)
    {
        return {0, 0, 0};
    }
};
enum { gyre_ports_of_gyre_no_ports = 0 };

/* ---- declaring kernels ---- */

#define GYRE_PORTS_AT_(ports_, context_) ((ports_ *)(context_)->ports)

#define GYRE_DECLARE_TO_(entry_, form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)         \
    GYRE_HANDLER_TO_(name_, request_, reply_, scratch_, state_, buffers_, ports_);                           \
    static_assert(sizeof(ports_) == gyre_ports_of_##ports_ * sizeof(gyre_cuda_port), "layout");              \
    GYRE_EXPORTED_TEXT_(gyre_leads_##name_, #ports_)                                                         \
    GYRE_DESCRIBE_KERNEL_(form_, name_, request_, reply_, scratch_, state_, buffers_)                        \
    entry_(form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)

#define GYRE_DECLARE_LANE_TO_(form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)            \
    GYRE_DECLARE_TO_(GYRE_ENTRY_LANE_TO_, form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)
#define GYRE_DECLARE_BLOCK_TO_(form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)           \
    GYRE_DECLARE_TO_(GYRE_ENTRY_BLOCK_TO_, form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)

/* Blocks that own keys get their messages from those that read (cuda_keyed_routes.h), and have no rings to send by. */
#define GYRE_DECLARE_KEYED_TO_(name_, request_, reply_, ports_, state_, key_, hooks_, reminds_)              \
    static_assert(sizeof(gyre_u32) == 0,                                                                     \
                  "keyed actor '" #name_                                                                     \
                  "' has ports, which keyed actors do not have on CUDA yet: run it on backend 'cpu' or "     \
                  "'opencl'");                                                                               \
    GYRE_HANDLER_TO_(name_, request_, reply_, gyre_none, state_, gyre_none, ports_);

#include "gyre/dialect/ports.h"

/* ---- what handlers call ---- */

#define gyre_emit(gyre_, port_) (gyre_emit_to_((gyre_), &(ports)->port_))

/*
 * Returns the next place, or NULL. A message with a tail is empty there. `least` is its size then; 0: the message has no
 * tail, and its bytes are those of an earlier message, unless what the message causes goes to another program. `size`: of the type.
 */
GYRE_HELPER void *gyre_emit_(gyre_context *gyre, gyre_cuda_port *port, gyre_u32 size, gyre_u32 least)
{
#if GYRE_GRID
    if (gyre->in_block == GYRE_IN_GRID_ && gyre->block > 0)
        gyre_fail_(gyre, GYRE_FAILURE_PORT, "in a grid kernel lane 0 of block 0 emits");
#endif
    if (port->emitted >= port->most)
        return 0;
    gyre_u8 *place = port->slots + (gyre_u64)((port->next + port->emitted) & port->mask) * port->stride +
                     GYRE_SLOT_HEADER_SIZE;
    port->emitted++;
    if (gyre->in_block && gyre->lane > 0)
        gyre_fail_(gyre, GYRE_FAILURE_PORT, "in a block kernel lane 0 emits");
    for (gyre_u32 i = 0; gyre->clears && i < size; i += 8) /* a place is whole pieces of 16 bytes */
        *(gyre_u64 *)(place + i) = 0;
    for (gyre_u32 i = 0; i < least; i += 4)
        *(gyre_u32 *)(place + i) = i ? 0 : least;
    return __builtin_assume_aligned(place, 16);
}

template <class T, gyre_u32 empty>
GYRE_HELPER T *gyre_emit_to_(gyre_context *gyre, gyre_cuda_port_to<T, empty> *port)
{
    return (T *)gyre_emit_(gyre, &port->gyre_port, sizeof(T), empty);
}

#include "gyre/dialect/cuda_words.h"
#include "gyre/dialect/cuda_asks.h"

GYRE_HELPER gyre_u32 gyre_hop(const gyre_context *gyre)
{
    return GYRE_ORIGIN_HOPS(gyre->origin);
}

GYRE_HELPER gyre_u64 gyre_flow_index_(const struct gyre_link_entry_ *entry, gyre_u64 origin);

GYRE_HELPER gyre_u64 gyre_flow_id(const gyre_context *gyre)
{
    if (gyre->origin & GYRE_ORIGIN_TAP)
        return 0;
    const gyre_u64 index = gyre->entry ? gyre_flow_index_(gyre->entry, gyre->origin) : gyre->index;
    return gyre->origin ? ((gyre_u64)GYRE_ORIGIN_TABLE(gyre->origin) + 1) << 56 | (index << 8 >> 8) : 0;
}

#endif
