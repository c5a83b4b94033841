/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports that ask, as CUDA C++: GYRE_PORTS_WITH_ASKS, gyre_ask, gyre_token and gyre_round. Included by cuda_ports.h. The core defines GYRE_ASKS for a
 * file that has GYRE_PORTS_WITH_ASKS; other kernels hold no trace of asks (cuda_link_asks.h serves them).
 */
#ifndef GYRE_DIALECT_CUDA_ASKS_H
#define GYRE_DIALECT_CUDA_ASKS_H

#if GYRE_ASKS

/* A port that asks is of another type than one that does not, so that gyre_emit and gyre_ask are each for one of them. */
template <class T, gyre_u32 empty> struct gyre_cuda_port_ask {
    gyre_cuda_port gyre_port;
};

#define GYRE_ASK_MEMBER_(type_, reply_, name_, most_)                                                        \
    gyre_cuda_port_ask<                                                                                      \
        ::type_, (int)gyre_size_##type_ == (int)gyre_least_##type_ ? 0u : (gyre_u32)gyre_least_##type_>      \
        name_;
#define GYRE_ASK_TYPE_(type_, reply_, name_, most_)  {gyre_size_##type_, gyre_least_##type_, (most_), 1},
#define GYRE_ASK_(type_, reply_, name_, most_)       +1
#define GYRE_ASK_TEXT_(type_, reply_, name_, most_)  #type_ " " #name_ " " #reply_ ";"
#define GYRE_ASK_COUNT_(type_, reply_, name_, most_) (gyre_u32)(most_),
#define GYRE_ASK_MOST_(type_, reply_, name_, most_)                                                          \
    static_assert(                                                                                           \
        (int)gyre_size_##reply_ > 0,                                                                         \
        "port " GYRE_TEXT_(name_) ": an answer is a message, and its second word is " GYRE_TEXT_(reply_));   \
    GYRE_PORT_MOST_(type_, name_, most_)
#define GYRE_PORTS_WITH_ASKS(name_, LIST_)                                                                   \
    GYRE_PORTS_AS_(name_, LIST_(GYRE_PORT_, GYRE_ASK_), LIST_(GYRE_PORT_MOST_, GYRE_ASK_MOST_),              \
                   LIST_(GYRE_PORT_MEMBER_, GYRE_ASK_MEMBER_), LIST_(GYRE_PORT_TYPE_, GYRE_ASK_TYPE_),       \
                   LIST_(GYRE_PORT_TEXT_, GYRE_ASK_TEXT_), LIST_(GYRE_PORT_COUNT_, GYRE_ASK_COUNT_))

#define gyre_ask(gyre_, port_, token_) (gyre_ask_to_((gyre_), &(ports)->port_, (token_)))

/* As gyre_emit_to_, of a port that asks. The token lies in front of the message, where cuda_link_asks.h finds it. */
template <class T, gyre_u32 empty>
GYRE_HELPER T *gyre_ask_to_(gyre_context *gyre, gyre_cuda_port_ask<T, empty> *port, gyre_u32 token)
{
    gyre_u8 *place = (gyre_u8 *)gyre_emit_(gyre, &port->gyre_port, sizeof(T), empty);
    if (token == 0)
        gyre_fail_(gyre, GYRE_FAILURE_PORT, "gyre_ask: a token is not 0");
    if (place)
        ((gyre_link_ask *)(place - sizeof(gyre_link_ask)))->token = token;
    return (T *)place;
}

GYRE_HELPER gyre_u32 gyre_token(const gyre_context *gyre)
{
    return gyre->token;
}

#else
GYRE_HELPER gyre_u32 gyre_token(const gyre_context *)
{
    return 0; /* no pipeline whose kernels ask has this kernel */
}
#endif

/* A kernel that begins rounds asks nobody, so it gets no answers, and no other tokens. Elsewhere this is gyre_token, and no round. */
GYRE_HELPER gyre_u32 gyre_round(const gyre_context *gyre)
{
    return gyre_token(gyre);
}

#endif
