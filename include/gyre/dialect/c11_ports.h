/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels with ports, as C11: GYRE_PORTS, the code that calls such a kernel's handler, and gyre_emit. Included by c11.h.
 *
 * A struct that GYRE_PORTS declares lies over the array of gyre_cpu_port that the backend filled in for the call. Such a
 * kernel has no runner: the backend calls its handler for each message, and then takes what was emitted.
 */
#ifndef GYRE_DIALECT_C11_PORTS_H
#define GYRE_DIALECT_C11_PORTS_H

#include "gyre/link_layout.h"

/* ---- declaring ports ---- */

/*
 * A port. Only `gyre_port` is read and written. The other members are there for their types: what a message is, and one
 * byte more than a message with an empty tail has; that is one byte where no message has a tail.
 */
#define GYRE_PORT_MEMBER_(type_, name_, most_)                                                               \
    union {                                                                                                  \
        gyre_cpu_port gyre_port;                                                                             \
        GYRE_GLOBAL type_ *gyre_typed;                                                                       \
        char (                                                                                               \
            *gyre_empty)[1 + ((int)gyre_size_##type_ == (int)gyre_least_##type_ ? 0 : gyre_least_##type_)];  \
    } name_;
#define GYRE_PORT_TYPE_(type_, name_, most_)                                                                 \
    {GYRE_TEXT_(name_), &gyre_type_##type_, (most_), gyre_least_##type_, 0},
/* Counts a port. Only types of messages have gyre_least_TYPE, so the check reports the name of another type. */
#define GYRE_PORT_(type_, name_, most_) +(gyre_least_##type_ >= 0)
#define GYRE_PORT_MOST_(type_, name_, most_)                                                                 \
    _Static_assert((most_) >= 1 && (most_) <= GYRE_PORT_MOST_MAX,                                            \
                   "port " GYRE_TEXT_(name_) ": one call may emit 1 to " GYRE_TEXT_(                         \
                       GYRE_PORT_MOST_MAX) " messages to it, and its third word is " GYRE_TEXT_(most_));

/*
 * A port that asks. Its member has another name than that of a port that does not, so that gyre_emit and gyre_ask are each for
 * one of them. An answer is a message, too.
 */
#define GYRE_ASK_MEMBER_(type_, reply_, name_, most_)                                                        \
    union {                                                                                                  \
        gyre_cpu_port gyre_port;                                                                             \
        GYRE_GLOBAL type_ *gyre_asked;                                                                       \
        char (                                                                                               \
            *gyre_empty)[1 + ((int)gyre_size_##type_ == (int)gyre_least_##type_ ? 0 : gyre_least_##type_)];  \
    } name_;
#define GYRE_ASK_TYPE_(type_, reply_, name_, most_)                                                          \
    {GYRE_TEXT_(name_), &gyre_type_##type_, (most_), gyre_least_##type_, &gyre_type_##reply_},
#define GYRE_ASK_(type_, reply_, name_, most_) +(gyre_least_##type_ >= 0 && gyre_least_##reply_ >= 0)
#define GYRE_ASK_MOST_(type_, reply_, name_, most_)                                                          \
    _Static_assert(                                                                                          \
        gyre_size_##reply_ > 0,                                                                              \
        "port " GYRE_TEXT_(name_) ": an answer is a message, and its second word is " GYRE_TEXT_(reply_));   \
    GYRE_PORT_MOST_(type_, name_, most_)

#define GYRE_PORTS_AS_(name_, count_, asserts_, members_, types_)                                            \
    enum { gyre_ports_of_##name_ = 0 count_ };                                                               \
    _Static_assert(gyre_ports_of_##name_ >= 1 && gyre_ports_of_##name_ <= GYRE_PORTS_MAX,                    \
                   "ports " #name_ ": a kernel has 1 to " GYRE_TEXT_(                                        \
                       GYRE_PORTS_MAX) " ports, and this list has more, or none");                           \
    asserts_ typedef struct name_ {                                                                          \
        members_                                                                                             \
    } name_;                                                                                                 \
    static const gyre_cpu_port_type gyre_port_types_##name_[] GYRE_UNUSED_ = {types_};
#define GYRE_PORTS(name_, LIST_)                                                                             \
    GYRE_PORTS_AS_(name_, LIST_(GYRE_PORT_), LIST_(GYRE_PORT_MOST_), LIST_(GYRE_PORT_MEMBER_),               \
                   LIST_(GYRE_PORT_TYPE_))
#define GYRE_PORTS_WITH_ASKS(name_, LIST_)                                                                   \
    GYRE_PORTS_AS_(name_, LIST_(GYRE_PORT_, GYRE_ASK_), LIST_(GYRE_PORT_MOST_, GYRE_ASK_MOST_),              \
                   LIST_(GYRE_PORT_MEMBER_, GYRE_ASK_MEMBER_), LIST_(GYRE_PORT_TYPE_, GYRE_ASK_TYPE_))

/* ---- declaring kernels ---- */

#define GYRE_PORTS_AT_(ports_, context_) ((ports_ *)(void *)(context_)->ports)

#ifdef GYRE_CHECK
/* uses a constant that only declared ports have: for another name the check reports it */
#define GYRE_DECLARE_LANE_TO_(form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)            \
    enum { gyre_leads_of_##name_ = gyre_ports_of_##ports_ };                                                 \
    GYRE_DECLARE_LANE_(form_, name_, request_, reply_, scratch_, state_, buffers_)
#define GYRE_DECLARE_BLOCK_TO_(form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)           \
    GYRE_DECLARE_LANE_TO_(form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)
#define GYRE_DECLARE_KEYED_TO_(name_, request_, reply_, ports_, state_, key_, hooks_, reminds_)              \
    GYRE_DECLARE_LANE_TO_(4, name_, request_, reply_, gyre_none, state_, gyre_none, ports_)                  \
    GYRE_KEYED_MEMBER_(name_, request_, key_)
#else
#define GYRE_CALL_HANDLER_TO_(form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)            \
    _Static_assert(sizeof(ports_) == gyre_ports_of_##ports_ * sizeof(gyre_cpu_port), "layout");              \
    GYRE_HANDLER_TO_(name_, request_, reply_, scratch_, state_, buffers_, ports_);                           \
    GYRE_CALL_HANDLER_(form_, name_, request_, reply_, buffers_, ,                                           \
                       GYRE_PORTS_AT_(ports_, gyre_its_context_))                                            \
    GYRE_CHECKED_CALLS_(name_, request_, reply_, scratch_, state_, buffers_, gyre_port_types_##ports_,       \
                        gyre_ports_of_##ports_)
#define GYRE_DECLARE_KEYED_TO_(name_, request_, reply_, ports_, state_, key_, hooks_, reminds_)              \
    GYRE_CALL_HANDLER_TO_(4, name_, request_, reply_, gyre_none, state_, gyre_none, ports_)                  \
    GYRE_KEYED_CALL_(name_, request_, key_, hooks_)                                                          \
    GYRE_KEYED_DESCRIBE_(name_, request_, reply_, state_, key_, reminds_, 0,                                 \
                         .ports = gyre_port_types_##ports_, .port_count = gyre_ports_of_##ports_, )
#define GYRE_DECLARE_LANE_TO_(form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)            \
    GYRE_CALL_HANDLER_TO_(form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)                \
    GYRE_DESCRIBE_(form_, name_, request_, reply_, scratch_, state_, buffers_, 0,                            \
                   .ports = gyre_port_types_##ports_, .port_count = gyre_ports_of_##ports_, )
#define GYRE_DECLARE_BLOCK_TO_(form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)           \
    GYRE_DECLARE_LANE_TO_(form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)
#endif

#include "gyre/dialect/ports.h"

/* ---- what handlers call ---- */

#define gyre_emit(gyre_, port_)                                                                              \
    ((__typeof__((ports)->port_.gyre_typed))gyre_emit_((gyre_), &(ports)->port_.gyre_port, 0,                \
                                                       sizeof(*(ports)->port_.gyre_empty) - 1))
#define gyre_ask(gyre_, port_, token_)                                                                       \
    ((__typeof__((ports)->port_.gyre_asked))gyre_ask_((gyre_), &(ports)->port_.gyre_port, (token_),          \
                                                      sizeof(*(ports)->port_.gyre_empty) - 1))

/* Clears a whole slot, of which handlers may only touch what their message has. */
#if GYRE_CHECKED_INDICES && !defined(GYRE_CHECK)
GYRE_UNCHECKED_ static void gyre_clear_(unsigned char *at, gyre_u64 size)
{
    volatile unsigned char *const bytes =
        at; /* volatile: otherwise the loop becomes a call of memset, which is checked */
    for (gyre_u64 i = 0; i < size; i++)
        bytes[i] = 0;
}
#else
#define gyre_clear_(at_, size_) memset((at_), 0, (size_))
#endif

/*
 * Returns the next place, or NULL. A message with a tail is empty there. `least` is its size then; 0: the message has no
 * tail, and its bytes are those of an earlier message; zeros, when the flow is of another program, or another program hears
 * what the kernel emits. `front`: bytes between the slot's header and the payload.
 */
GYRE_INLINE_ GYRE_GLOBAL void *gyre_emit_(gyre_context *gyre, gyre_cpu_port *port, gyre_u64 front,
                                          gyre_u64 least)
{
    GYRE_WATCH_EMIT_(gyre);
    if (port->emitted >= port->most) {
        if (port->most == 0) /* only block 0 of a grid kernel has places */
            gyre_fail_(gyre, GYRE_FAILURE_PORT, "in a grid kernel lane 0 of block 0 emits");
        return 0;
    }
    unsigned char *place = port->slots + ((port->next + port->emitted) & port->mask) * port->stride;
    port->emitted++;
    if (gyre->lane > 0) /* it is 0 in kernels whose lanes share no message */
        gyre_fail_(gyre, GYRE_FAILURE_PORT, "in a block kernel lane 0 emits");
    place += GYRE_SLOT_HEADER_SIZE;
    if (least) {
        const gyre_u32 used = (gyre_u32)least;
        memset(place, 0, least);
        memcpy(place, &used, sizeof used);
    } else if (gyre->foreign) {
        gyre_clear_(place, port->stride - GYRE_SLOT_HEADER_SIZE - front);
    }
    return (GYRE_GLOBAL void *)(uintptr_t)place;
}

/* As gyre_emit_, of a port that asks. The backend finds the token in front of the message. */
GYRE_INLINE_ GYRE_GLOBAL void *gyre_ask_(gyre_context *gyre, gyre_cpu_port *port, gyre_u32 token,
                                         gyre_u64 least)
{
    GYRE_WATCH_EMIT_(gyre); /* here as well: the line that is told is the one that calls this function */
    GYRE_GLOBAL void *place = gyre_emit_(gyre, port, sizeof(gyre_link_ask), least);
    if (token == 0)
        gyre_fail_(gyre, GYRE_FAILURE_PORT, "gyre_ask: a token is not 0");
    if (place)
        ((gyre_link_ask *)(void *)((unsigned char *)(gyre_u64)place - sizeof(gyre_link_ask)))->token = token;
    return place;
}

GYRE_INLINE_ gyre_u32 gyre_token(const gyre_context *gyre)
{
    return gyre->token;
}

/* A kernel that begins rounds asks nobody, so it gets no answers, and no other tokens. Elsewhere this is gyre_token, and no round. */
GYRE_INLINE_ gyre_u32 gyre_round(const gyre_context *gyre)
{
    return gyre->token;
}

/* ---- memory of flows ---- */

#ifdef GYRE_CHECK
#define GYRE_FLOW(kernel_, type_) typedef type_ gyre_flow_of_##kernel_;
#define GYRE_FLOW_SPARE_(kernel_) 0
#else
#define GYRE_FLOW(kernel_, type_)                                                                            \
    _Static_assert(sizeof(type_) <= GYRE_FLOW_SIZE_MAX,                                                      \
                   "GYRE_FLOW of kernel " #kernel_ ": at most " GYRE_TEXT_(GYRE_FLOW_SIZE_MAX) " bytes");    \
    typedef type_ gyre_flow_of_##kernel_;                                                                    \
    static gyre_flow_of_##kernel_ gyre_flow_spare_##kernel_ GYRE_UNUSED_;                                    \
    extern const gyre_u32 gyre_flow_size_##kernel_;                                                          \
    const gyre_u32 gyre_flow_size_##kernel_ __attribute__((__visibility__("hidden"))) = sizeof(type_);
#define GYRE_FLOW_SPARE_(kernel_) (&gyre_flow_spare_##kernel_)
#endif

#define gyre_flow(gyre_, kernel_)                                                                            \
    ((GYRE_GLOBAL gyre_flow_of_##kernel_ *)gyre_flow_((gyre_), sizeof(gyre_flow_of_##kernel_),               \
                                                      GYRE_FLOW_SPARE_(kernel_)))

/* `spare`: for a handler that names another kernel than its own, whose memory is of another size, and for reminders. */
GYRE_INLINE_ GYRE_GLOBAL void *gyre_flow_(gyre_context *gyre, gyre_u64 size, void *spare)
{
    const int is_own = size == gyre->memory_size;
    if (is_own && gyre->memory)
        return (GYRE_GLOBAL void *)(gyre_u64)gyre->memory;
    gyre_fail_(gyre, GYRE_FAILURE_PORT,
               is_own ? "gyre_flow: a reminder is of no flow" : "gyre_flow: of another kernel than its own");
    return (GYRE_GLOBAL void *)(gyre_u64)spare;
}

/* ---- being called again ---- */

/* the struct of ports lies over the array of gyre_cpu_port */
#define GYRE_MORE gyre_more_((gyre), (gyre_cpu_port *)(void *)(ports))

/* Asks for another call with the same message. Its result is one without a reply. */
GYRE_INLINE_ gyre_result gyre_more_(gyre_context *gyre, gyre_cpu_port *first)
{
    (void)gyre;
    GYRE_WATCH_MORE_(gyre);
    first->again++;
    return GYRE_NO_REPLY;
}

GYRE_INLINE_ gyre_u32 gyre_turn(const gyre_context *gyre)
{
    return gyre->turn;
}

GYRE_INLINE_ gyre_u32 gyre_hop(const gyre_context *gyre)
{
    return GYRE_ORIGIN_HOPS(gyre->origin);
}

GYRE_INLINE_ gyre_u64 gyre_flow_id(const gyre_context *gyre)
{
    return gyre->flow;
}

#endif
