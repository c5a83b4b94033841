/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Savina's benchmarks of streams that go one way: counting, fork-join, sieve, radix sort, trapezoid. A client feeds the first kernel
 * of a stream: each of its requests stands for the SAVINA_BATCH messages from `number` on.
 */
#include <gyre/kernel.h>

#include "../savina.h"

#define PASS_PORTS(PORT) PORT(task, next, 1)
GYRE_PORTS(pass_ports, PASS_PORTS)

/* ---- counting: `left` increments, and then the question how many there were ---- */

#define BATCH_PORTS(PORT) PORT(task, batch, SAVINA_BATCH)
GYRE_PORTS(batch_ports, BATCH_PORTS)

GYRE_ACTOR_TO(produce, task, gyre_none, batch_ports, gyre_none)
{
    for (u64 i = request->number; i < request->number + SAVINA_BATCH && i <= request->left; i++) {
        GYRE_GLOBAL task *out = gyre_emit(gyre, batch);
        out->what = i == request->left ? SAVINA_TELL : SAVINA_PUT;
        out->number = i;
        out->value = 0;
    }
    return GYRE_NO_REPLY;
}

/* Adds numbers. Tells whoever asks what they come to, and begins anew. */
GYRE_ACTOR(add, task, total, total)
{
    if (request->what == SAVINA_TELL) {
        *reply = *state;
        state->count = 0;
        state->sum = 0;
        state->value = 0;
        return GYRE_REPLY;
    }
    state->count++;
    state->sum += request->number;
    state->value += request->value;
    return GYRE_NO_REPLY;
}

/* ---- fork-join: each of `left` messages to all workers, which are the subscribers of a topic ---- */

GYRE_ACTOR_TO(work, task, gyre_none, pass_ports, total)
{
    const f64 sine = sin(37.2);
    state->count++;
    state->value += sine * sine;
    if (request->what != SAVINA_TELL)
        return GYRE_NO_REPLY;
    GYRE_GLOBAL task *out = gyre_emit(gyre, next);
    out->what = SAVINA_PUT;
    out->number = state->count;
    out->value = state->value;
    out->size = request->size;
    state->count = 0;
    state->value = 0;
    return GYRE_NO_REPLY;
}

GYRE_ACTOR_TO(fork, task, gyre_none, batch_ports, gyre_none)
{
    for (u64 i = request->number; i < request->number + SAVINA_BATCH && i < request->left; i++) {
        GYRE_GLOBAL task *out = gyre_emit(gyre, batch);
        out->what = i + 1 == request->left ? SAVINA_TELL : SAVINA_PUT;
        out->size = request->size;
    }
    return GYRE_NO_REPLY;
}

/* Answers when all of `size` workers have told what they did. */
GYRE_ACTOR(join, task, total, total)
{
    state->count++;
    state->sum += request->number;
    state->value += request->value;
    if (state->count < request->size)
        return GYRE_NO_REPLY;
    *reply = *state;
    state->count = 0;
    state->sum = 0;
    state->value = 0;
    return GYRE_REPLY;
}

/* ---- sieve: odd numbers below `left` through filters that each keep a thousand primes ---- */

/* The odd numbers are 3, 5, 7 ...; `number` counts them. */
GYRE_ACTOR_TO(sieve_source, task, gyre_none, batch_ports, gyre_none)
{
    const u64 end = (request->left - 2) / 2; /* so many odd numbers from 3 on are below `left` */
    for (u64 i = request->number; i < request->number + SAVINA_BATCH && i <= end; i++) {
        GYRE_GLOBAL task *out = gyre_emit(gyre, batch);
        out->what = i == end ? SAVINA_END : SAVINA_PUT;
        out->number = i == end ? 1 : 3 + 2 * i; /* at the end: the prime 2 */
    }
    return GYRE_NO_REPLY;
}

#define FILTER_STATE(FIELD) FIELD(u32, count) FIELD(u32, primes[1000])
GYRE_MESSAGE(filter_state, FILTER_STATE)

/* Keeps the first primes that come, and passes on what none of them divides. The end collects how many there were. */
GYRE_ACTOR_TO(filter, task, gyre_none, pass_ports, filter_state)
{
    if (request->what == SAVINA_END) {
        GYRE_GLOBAL task *end = gyre_emit(gyre, next);
        *end = *request;
        end->number += state->count;
        state->count = 0;
        return GYRE_NO_REPLY;
    }
    const u32 number = (u32)request->number;
    for (u32 i = 0; i < state->count; i++)
        if (number % state->primes[i] == 0)
            return GYRE_NO_REPLY;
    if (state->count < PRIMES_A_FILTER)
        state->primes[state->count++] = number;
    else
        *gyre_emit(gyre, next) = *request;
    return GYRE_NO_REPLY;
}

GYRE_KERNEL(sieve_end, task, total)
{
    if (request->what != SAVINA_END)
        return gyre_fail(gyre, 1, "more primes than the filters keep");
    reply->count = request->number;
    return GYRE_REPLY;
}

/* ---- radix sort: `left` numbers, through a kernel for each bit ---- */

/*
 * The numbers have `who` bits, 63 at most. Behind the `left` numbers come `size` ticks, by which the kernels send what they kept, and the end. State: sum is the last random
 * number.
 */
GYRE_ACTOR_TO(radix_source, task, gyre_none, batch_ports, total)
{
    const u64 end = request->left + request->size, mask = ((u64)1 << request->who) - 1;
    if (request->who > 63)
        return gyre_fail(gyre, 1, "numbers of so many bits there are not");
    if (request->number == 0)
        state->sum = 2048;
    for (u64 i = request->number; i < request->number + SAVINA_BATCH && i <= end; i++) {
        GYRE_GLOBAL task *out = gyre_emit(gyre, batch);
        out->what = i < request->left ? SAVINA_PUT : i < end ? SAVINA_TELL : SAVINA_END;
        out->size = 0;
        if (i >= request->left)
            continue;
        state->sum = savina_random(state->sum);
        out->number = state->sum >> 4 & mask;
    }
    return GYRE_NO_REPLY;
}

#define RADIX_BUFFERS(IN, INOUT) INOUT(u64, kept)
GYRE_BUFFERS(radix_buffers, RADIX_BUFFERS)

/*
 * Passes on numbers without a bit, and keeps the others. A tick sends so many of those, in their order; once all are gone, ticks pass.
 * `size` of a message is the bit: each kernel adds one. State: count is how many were kept, sum how many of them are gone.
 */
GYRE_ACTOR_TO_WITH(radix, task, gyre_none, batch_ports, total, radix_buffers)
{
    if (request->what == SAVINA_PUT && request->number >> request->size & 1) {
        if (!gyre_assert(gyre, state->count < buffers->kept_count))
            return GYRE_FAILED;
        buffers->kept[state->count++] = request->number;
        return GYRE_NO_REPLY;
    }
    if (request->what != SAVINA_TELL || state->sum == state->count) {
        if (request->what == SAVINA_END && state->sum != state->count)
            return gyre_fail(gyre, 1, "the end came before all numbers were gone");
        GYRE_GLOBAL task *out = gyre_emit(gyre, batch);
        *out = *request;
        out->size++;
        return GYRE_NO_REPLY;
    }
    for (u32 i = 0; i < SAVINA_BATCH && state->sum < state->count; i++) {
        GYRE_GLOBAL task *out = gyre_emit(gyre, batch);
        out->what = SAVINA_PUT;
        out->size = request->size + 1;
        out->number = buffers->kept[state->sum++];
    }
    return GYRE_NO_REPLY;
}

#define SORTED(FIELD) FIELD(u64, last) FIELD(u64, count) FIELD(u64, sum)
GYRE_MESSAGE(sorted_state, SORTED)

/* Fails when a number is smaller than the one before it. */
GYRE_ACTOR(sorted, task, total, sorted_state)
{
    if (request->what == SAVINA_END) {
        reply->count = state->count;
        reply->sum = state->sum;
        return GYRE_REPLY;
    }
    if (request->what == SAVINA_TELL)
        return gyre_fail(gyre, 1, "a tick came through, and so there was one too many");
    if (request->number < state->last)
        return gyre_fail(gyre, 2, "the numbers are not sorted");
    state->last = request->number;
    state->count++;
    state->sum += request->number * state->count;
    return GYRE_NO_REPLY;
}

/* ---- trapezoid: `size` parts of `left` pieces in all, between 1 and 5 ---- */

#define PARTS_PORTS(PORT) PORT(task, parts, PARTS_MAX)
GYRE_PORTS(parts_ports, PARTS_PORTS)

GYRE_ACTOR_TO(trapezoid, task, gyre_none, parts_ports, gyre_none)
{
    if (request->size == 0 || request->size > PARTS_MAX)
        return gyre_fail(gyre, 1, "so many parts there are not");
    for (u32 i = 0; i < request->size; i++) {
        GYRE_GLOBAL task *out = gyre_emit(gyre, parts);
        *out = *request;
        out->who = i;
    }
    return GYRE_NO_REPLY;
}

GYRE_HELPER f64 height(f64 x)
{
    return 1 / (x + 1) * sqrt(1 + exp(sqrt(2 * x))) * sin(x * x * x - 1);
}

GYRE_KERNEL_TO(part, task, gyre_none, pass_ports)
{
    const u64 pieces = request->left / request->size, first = pieces * request->who;
    const f64 width = 4.0 / (f64)(pieces * request->size);
    f64 area = 0;
    for (u64 i = first; i < first + pieces; i++)
        area += 0.5 * width * (height(1 + (f64)i * width) + height(1 + (f64)(i + 1) * width));
    GYRE_GLOBAL task *out = gyre_emit(gyre, next);
    out->what = SAVINA_PUT;
    out->number = 1;
    out->size = request->size;
    out->value = area;
    return GYRE_NO_REPLY;
}
