/* SPDX-License-Identifier: Apache-2.0 */
/* Savina's benchmarks of numbers that go through many actors: logistic map, radix sort, trapezoid. */
#include <gyre/kernel.h>

#include "../savina.h"

#define NEXT_PORTS(PORT) PORT(task, next, 1)
GYRE_PORTS(next_ports, NEXT_PORTS)

/* ---- logistic map: each series asks its own rate for `left` terms ---- */

GYRE_KERNEL_TO(logistic, task, gyre_none, next_ports)
{
    *gyre_emit(gyre, next) = *request;
    return GYRE_NO_REPLY;
}

#define SERIES_PORTS(PORT, ASK) ASK(task, task, rate, 1) PORT(task, last, 1)
GYRE_PORTS_WITH_ASKS(series_ports, SERIES_PORTS)

/* State: sum is the number of the series, count the terms that are left, value the term. */
GYRE_ACTOR_TO(series, task, gyre_none, series_ports, total)
{
    if (gyre_token(gyre) == 0)
        state->count = request->left;
    else
        state->value = request->value;
    if (state->count > 0) {
        state->count--;
        gyre_ask(gyre, rate, 1)->value = state->value;
        return GYRE_NO_REPLY;
    }
    GYRE_GLOBAL task *out = gyre_emit(gyre, last);
    out->who = (u32)state->sum;
    out->value = state->value;
    return GYRE_NO_REPLY;
}

/* State: value is the rate. */
GYRE_ACTOR(rate, task, task, total)
{
    reply->value = state->value * request->value * (1 - request->value);
    return GYRE_REPLY;
}

#define TERMS(FIELD) FIELD(f64, value[10]) FIELD(u32, count)
GYRE_MESSAGE(terms, TERMS)

/* Adds the last terms in the order of their series, so that the sum is the same to the last bit. */
GYRE_ACTOR(add_terms, task, total, terms)
{
    if (request->who >= 10)
        return gyre_fail(gyre, 1, "there is no such series");
    state->value[request->who] = request->value;
    if (++state->count < 10)
        return GYRE_NO_REPLY;
    for (u32 i = 0; i < 10; i++)
        reply->value += state->value[i];
    reply->count = state->count;
    state->count = 0;
    return GYRE_REPLY;
}

/* ---- radix sort: `left` numbers, through a kernel for each bit ---- */

enum { NUMBERS_A_CALL = 64 };

#define MANY_PORTS(PORT) PORT(task, numbers, NUMBERS_A_CALL)
GYRE_PORTS(many_ports, MANY_PORTS)

/* State: sum is the last random number. */
GYRE_ACTOR_TO(radix_source, task, gyre_none, many_ports, total)
{
    const u64 first = (u64)gyre_turn(gyre) * NUMBERS_A_CALL;
    if (first == 0)
        state->sum = 2048;
    for (u64 i = first; i < first + NUMBERS_A_CALL && i <= request->left; i++) {
        GYRE_GLOBAL task *out = gyre_emit(gyre, numbers);
        out->what = i == request->left ? SAVINA_END : SAVINA_PUT;
        state->sum = savina_random(state->sum);
        out->number = state->sum >> 4;
    }
    return first + NUMBERS_A_CALL <= request->left ? GYRE_MORE : GYRE_NO_REPLY;
}

#define RADIX_BUFFERS(IN, INOUT) INOUT(u64, kept)
GYRE_BUFFERS(radix_buffers, RADIX_BUFFERS)

/*
 * Passes on numbers without a bit, and keeps the others until the end. `size` of a message is the bit: each kernel adds one. State:
 * count is how many are kept.
 */
GYRE_ACTOR_TO_WITH(radix, task, gyre_none, many_ports, total, radix_buffers)
{
    if (request->what == SAVINA_PUT && request->number >> request->size & 1) {
        if (!gyre_assert(gyre, state->count < buffers->kept_count))
            return GYRE_FAILED;
        buffers->kept[state->count++] = request->number;
        return GYRE_NO_REPLY;
    }
    if (request->what == SAVINA_PUT) {
        GYRE_GLOBAL task *out = gyre_emit(gyre, numbers);
        *out = *request;
        out->size++;
        return GYRE_NO_REPLY;
    }
    const u64 first = (u64)gyre_turn(gyre) * NUMBERS_A_CALL;
    for (u64 i = first; i < first + NUMBERS_A_CALL && i <= state->count; i++) {
        GYRE_GLOBAL task *out = gyre_emit(gyre, numbers);
        out->what = i == state->count ? SAVINA_END : SAVINA_PUT;
        out->size = request->size + 1;
        if (i < state->count)
            out->number = buffers->kept[i];
    }
    if (first + NUMBERS_A_CALL <= state->count)
        return GYRE_MORE;
    state->count = 0;
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
    if (request->number < state->last)
        return gyre_fail(gyre, 1, "the numbers are not sorted");
    state->last = request->number;
    state->count++;
    state->sum += request->number * state->count;
    return GYRE_NO_REPLY;
}

/* ---- trapezoid: `size` parts of `left` pieces in all, between 1 and 5 ---- */

GYRE_ACTOR_TO(trapezoid, task, gyre_none, many_ports, gyre_none)
{
    const u32 first = gyre_turn(gyre) * NUMBERS_A_CALL;
    for (u32 i = first; i < first + NUMBERS_A_CALL && i < request->size; i++) {
        GYRE_GLOBAL task *out = gyre_emit(gyre, numbers);
        *out = *request;
        out->who = i;
    }
    return first + NUMBERS_A_CALL < request->size ? GYRE_MORE : GYRE_NO_REPLY;
}

GYRE_HELPER f64 height(f64 x)
{
    return 1 / (x + 1) * sqrt(1 + exp(sqrt(2 * x))) * sin(x * x * x - 1);
}

GYRE_KERNEL_TO(part, task, gyre_none, next_ports)
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
