/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that send to topics, and their subscribers. */
#include <gyre/kernel.h>

#include "topics.h"

/* Emits a job for each that it is told of: numbers from `number` on. The other port gets the first one, too. */
#define TOPIC_PORTS(PORT) PORT(job, ticks, TICKS_MOST) PORT(job, first, 1)
GYRE_PORTS(topic_ports, TOPIC_PORTS)

GYRE_HELPER void fill_job(GYRE_GLOBAL job *out, const GYRE_GLOBAL job *request, u32 number)
{
    out->number = request->number + number;
    if (request->what == JOB_BARE)
        return;
    out->sum = request->sum;
    out->what = request->what;
    out->hops = 1;
}

GYRE_KERNEL_TO(publish, job, job, topic_ports)
{
    for (u32 i = 0; i < request->hops && i < TICKS_MOST; i++)
        fill_job(gyre_emit(gyre, ticks), request, i);
    fill_job(gyre_emit(gyre, first), request, 0);
    return GYRE_NO_REPLY;
}

/* As publish, one job after the other. */
GYRE_ACTOR_TO(recite, job, job, topic_ports, job)
{
    state->number = request->number;
    for (u32 i = 0; i < request->hops && i < TICKS_MOST; i++)
        fill_job(gyre_emit(gyre, ticks), request, i);
    fill_job(gyre_emit(gyre, first), request, 0);
    return GYRE_NO_REPLY;
}

/* Counts what it hears, and tells when it is asked by its own queue. */
GYRE_ACTOR(listen, job, heard, heard)
{
    if (request->what == JOB_TELL) {
        *reply = *state;
        return GYRE_REPLY;
    }
    state->disorder += state->count != 0 && request->number <= state->last;
    state->count++;
    state->last = request->number;
    state->sum += request->number;
    state->flows += gyre_flow_id(gyre) != 0;
    state->headers += gyre_header_id(gyre) != 0;
    if (request->what == JOB_FAIL)
        return gyre_fail(gyre, 5, "as told");
    return GYRE_NO_REPLY;
}

/* Answers every job that it gets. */
GYRE_KERNEL(answer, job, job)
{
    *reply = *request;
    reply->hops++;
    return GYRE_REPLY;
}

#define ON_PORTS(PORT) PORT(job, out, 1)
GYRE_PORTS(on_ports, ON_PORTS)

/* Passes on, and replies. */
GYRE_KERNEL_TO(pass_and_answer, job, job, on_ports)
{
    *gyre_emit(gyre, out) = *request;
    *reply = *request;
    reply->hops = gyre_hop(gyre);
    return GYRE_REPLY;
}

/* Passes on. */
GYRE_KERNEL_TO(hand_on, job, job, on_ports)
{
    *gyre_emit(gyre, out) = *request;
    return GYRE_NO_REPLY;
}

/* Takes as many milliseconds as a job of JOB_SPIN says. */
GYRE_KERNEL(linger, job, job)
{
    const u64 start = request->what == JOB_SPIN ? gyre_time_ns(gyre) : 0;
    while (request->what == JOB_SPIN && gyre_time_ns(gyre) - start < request->number * 1000000) {
    }
    return GYRE_NO_REPLY;
}

/* A message with a tail, of which every subscriber gets the whole. */
#define MEMO_PORTS(PORT) PORT(memo, out, 1)
GYRE_PORTS(memo_ports, MEMO_PORTS)

GYRE_KERNEL_TO(publish_memo, memo, gyre_none, memo_ports)
{
    GYRE_GLOBAL memo *out = gyre_emit(gyre, out);
    out->number = request->number;
    out->text = gyre_copy(gyre, u8, out, request, request->text);
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(answer_memo, memo, memo)
{
    reply->number = request->number;
    reply->text = gyre_copy(gyre, u8, reply, request, request->text);
    return GYRE_REPLY;
}

GYRE_ACTOR(count_letters, memo, heard, heard)
{
    const GYRE_GLOBAL u8 *letters = gyre_items(u8, request, request->text);
    if (request->number == JOB_TELL) {
        *reply = *state;
        return GYRE_REPLY;
    }
    state->count++;
    for (u32 i = 0; i < request->text.count; i++)
        state->sum += letters[i];
    return GYRE_NO_REPLY;
}
