/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers that fault or loop when they are told to, on any device. */
#include <gyre/kernel.h>

#include "stray.h"

GYRE_BUFFERS(stray_buffers, STRAY_BUFFERS)

GYRE_HELPER u64 mixed(u64 number)
{
    number = (number ^ number >> 31) * 0x9e3779b97f4a7c15ul;
    return number ^ number >> 29;
}

/* Terabytes behind a buffer is no memory on any device. */
GYRE_HELPER u64 stray(const stray_buffers *buffers, u32 fault, u64 far)
{
    if (fault == STRAY_READ)
        return buffers->near[far];
    if (fault == STRAY_WRITE || fault == STRAY_READ_BACK)
        buffers->near[far] = far;
    return fault == STRAY_READ_BACK ? buffers->near[far] : 0;
}

/* Stateless: the reply is a function of the request. */
GYRE_KERNEL_WITH(strays, stray_request, stray_reply, gyre_none, stray_buffers)
{
    reply->now_ns = gyre_time_ns(gyre);
    reply->number = request->number;
    reply->check = mixed(request->number);
    if (request->fault != STRAY_NOT && reply->now_ns < request->until_ns)
        reply->check += stray(buffers, request->fault, request->far);
    while (request->fault == STRAY_LOOP && gyre_time_ns(gyre) < request->until_ns)
        reply->check ^= 0;
    reply->took_ns = gyre_time_ns(gyre) - reply->now_ns;
    while (request->fault == STRAY_LAST && reply->took_ns < request->until_ns)
        reply->took_ns = gyre_time_ns(gyre) - reply->now_ns;
    return GYRE_REPLY;
}

/* Stateless, with replies at length. */
GYRE_KERNEL(stray_chats, stray_request, stray_chat)
{
    while (request->fault == STRAY_LOOP && gyre_time_ns(gyre) < request->until_ns)
        reply->number ^= 0;
    reply->number = request->number;
    reply->now_ns = gyre_time_ns(gyre);
    reply->words = gyre_new(gyre, u64, reply, 400);
    GYRE_GLOBAL u64 *words = gyre_writable(u64, reply, reply->words);
    for (u32 i = 0; i < reply->words.count; i++)
        words[i] = mixed(request->number + i);
    return GYRE_REPLY;
}

/* Stateful: the reply is a function of all requests so far. A fault leaves half a change behind. */
GYRE_ACTOR_WITH(stray_actor, stray_request, stray_reply, stray_state, stray_buffers)
{
    state->count++;
    reply->now_ns = gyre_time_ns(gyre);
    if (request->fault != STRAY_NOT && reply->now_ns < request->until_ns)
        state->count += stray(buffers, request->fault, request->far);
    while (request->fault == STRAY_LOOP && gyre_time_ns(gyre) < request->until_ns)
        reply->check ^= 0;
    while (request->fault == STRAY_LAST && gyre_time_ns(gyre) < reply->now_ns + request->until_ns)
        reply->check ^= 0;
    state->hash = mixed(state->hash + request->number);
    reply->number = state->count;
    reply->check = state->hash;
    return GYRE_REPLY;
}
