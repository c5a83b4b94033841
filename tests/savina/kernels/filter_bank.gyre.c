/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Savina's filter bank: a stream of `left` values through eight channels, each of which delays, filters, samples every so manieth value,
 * delays and filters again; then the channels are added. A client feeds the source (SAVINA_BATCH). size: columns, the length of
 * filters. from: how many channels there are.
 */
#include <gyre/kernel.h>

#include "../savina.h"

#define PASS_PORTS(PORT) PORT(task, next, 1)
GYRE_PORTS(pass_ports, PASS_PORTS)

#define CHANNEL_PORTS(PORT)                                                                                  \
    PORT(task, c0, SAVINA_BATCH)                                                                             \
    PORT(task, c1, SAVINA_BATCH)                                                                             \
    PORT(task, c2, SAVINA_BATCH)                                                                             \
    PORT(task, c3, SAVINA_BATCH)                                                                             \
    PORT(task, c4, SAVINA_BATCH)                                                                             \
    PORT(task, c5, SAVINA_BATCH) PORT(task, c6, SAVINA_BATCH) PORT(task, c7, SAVINA_BATCH)
GYRE_PORTS(channel_ports, CHANNEL_PORTS)

GYRE_HELPER void fill_value(GYRE_GLOBAL task *out, const GYRE_GLOBAL task *request, u32 channel, u64 number)
{
    *out = *request;
    out->what = number == request->left ? SAVINA_END : SAVINA_PUT;
    out->who = channel;
    out->value = number == request->left ? 0 : (f64)(number % FILTER_VALUES + 1);
}

GYRE_ACTOR_TO(filter_source, task, gyre_none, channel_ports, gyre_none)
{
    for (u64 i = request->number; i < request->number + SAVINA_BATCH && i <= request->left; i++) {
        fill_value(gyre_emit(gyre, c0), request, 0, i);
        fill_value(gyre_emit(gyre, c1), request, 1, i);
        fill_value(gyre_emit(gyre, c2), request, 2, i);
        fill_value(gyre_emit(gyre, c3), request, 3, i);
        fill_value(gyre_emit(gyre, c4), request, 4, i);
        fill_value(gyre_emit(gyre, c5), request, 5, i);
        fill_value(gyre_emit(gyre, c6), request, 6, i);
        fill_value(gyre_emit(gyre, c7), request, 7, i);
    }
    return GYRE_NO_REPLY;
}

#define DELAY_BUFFERS(IN, INOUT) INOUT(f64, kept)
GYRE_BUFFERS(delay_buffers, DELAY_BUFFERS)

/* State: count is the place of the next value in the buffer. */
GYRE_ACTOR_TO_WITH(delay, task, gyre_none, pass_ports, total, delay_buffers)
{
    GYRE_GLOBAL task *out = gyre_emit(gyre, next);
    *out = *request;
    if (request->what == SAVINA_END)
        return GYRE_NO_REPLY;
    out->value = buffers->kept[state->count];
    buffers->kept[state->count] = request->value;
    state->count = (state->count + 1) % buffers->kept_count;
    return GYRE_NO_REPLY;
}

enum { FILTER_SUMS = 16 };

#define FIR_BUFFERS(IN, INOUT) INOUT(f64, kept) IN(f64, taps)
GYRE_BUFFERS(fir_buffers, FIR_BUFFERS)

/*
 * As Savina has it, from the first place of the buffer to its last one, by sums that do not wait for each other. Many reads are under way
 * together, because on a GPU each one takes long.
 */
GYRE_HELPER f64 filter_value(const GYRE_GLOBAL f64 *kept, const GYRE_GLOBAL f64 *taps, u32 columns)
{
    f64 sums[FILTER_SUMS] = {0};
    u32 i = 0;
    for (; i + FILTER_SUMS <= columns; i += FILTER_SUMS) {
#pragma unroll
        for (u32 k = 0; k < FILTER_SUMS; k++)
            sums[k] += kept[i + k] * taps[columns - 1 - i - k];
    }
    for (; i < columns; i++)
        sums[0] += kept[i] * taps[columns - 1 - i];
    f64 sum = 0;
    for (u32 k = 0; k < FILTER_SUMS; k++)
        sum += sums[k];
    return sum;
}

/*
 * The end gathers the sums of all filters. State: count is the place of the next value, sum whether the buffer was full once, value the sum
 * of what the filter made.
 */
GYRE_ACTOR_TO_WITH(fir, task, gyre_none, pass_ports, total, fir_buffers)
{
    if (request->what == SAVINA_PUT) {
        if (!gyre_assert(gyre, buffers->kept_count == request->size && buffers->taps_count == request->size))
            return GYRE_FAILED;
        buffers->kept[state->count++] = request->value;
        if (state->count == request->size) {
            state->count = 0;
            state->sum = 1;
        }
        if (!state->sum)
            return GYRE_NO_REPLY;
    }
    GYRE_GLOBAL task *out = gyre_emit(gyre, next);
    *out = *request;
    if (request->what == SAVINA_PUT) {
        out->value = filter_value(buffers->kept, buffers->taps, request->size);
        state->value += out->value;
    } else
        out->value = request->value + state->value;
    return GYRE_NO_REPLY;
}

/* Passes one value in `size`, and zeros else. State: count of values since. */
GYRE_ACTOR_TO(sample, task, gyre_none, pass_ports, total)
{
    GYRE_GLOBAL task *out = gyre_emit(gyre, next);
    *out = *request;
    if (request->what == SAVINA_END)
        return GYRE_NO_REPLY;
    if (state->count)
        out->value = 0;
    state->count = (state->count + 1) % request->size;
    return GYRE_NO_REPLY;
}

#define INTEGRATOR(FIELD) FIELD(u64, count[8]) FIELD(u64, done) FIELD(f64, filtered) FIELD(u32, ended)
GYRE_MESSAGE(integrator_state, INTEGRATOR)

/* Adds the values of all channels, the first of each, the second of each, and so on. The buffer has those that wait. */
GYRE_ACTOR_TO_WITH(integrate, task, gyre_none, pass_ports, integrator_state, delay_buffers)
{
    if (request->from == 0 || request->from > FILTER_CHANNELS || request->who >= request->from)
        return gyre_fail(gyre, 1, "there is no such channel");
    if (request->what == SAVINA_END) {
        state->filtered += request->value;
        if (++state->ended < request->from)
            return GYRE_NO_REPLY;
        GYRE_GLOBAL task *end = gyre_emit(gyre, next);
        *end = *request;
        end->value = state->filtered;
        return GYRE_NO_REPLY;
    }
    const u64 room = buffers->kept_count / FILTER_CHANNELS;
    if (!gyre_assert(gyre, state->count[request->who] - state->done < room))
        return GYRE_FAILED;
    buffers->kept[request->who * room + state->count[request->who]++ % room] = request->value;
    for (u32 i = 0; i < request->from; i++)
        if (state->count[i] == state->done)
            return GYRE_NO_REPLY;
    f64 sum = 0;
    for (u32 i = 0; i < request->from; i++)
        sum += buffers->kept[i * room + state->done % room];
    GYRE_GLOBAL task *out = gyre_emit(gyre, next);
    out->what = SAVINA_PUT;
    out->value = sum;
    state->done++;
    return GYRE_NO_REPLY;
}

/* Adds what comes, each value times its number, so that the order counts. */
GYRE_ACTOR(filter_sink, task, total, total)
{
    if (request->what == SAVINA_END) {
        *reply = *state;
        reply->beside = request->value;
        return GYRE_REPLY;
    }
    state->count++;
    state->value += request->value * (f64)state->count;
    return GYRE_NO_REPLY;
}
