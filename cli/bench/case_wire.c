/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the cost on the host of the wire form of a request of 42 bytes: calls of the functions that `gyre wire` wrote. The
 * floor is a call of memcpy for the same bytes. The messages stay in the first level of cache. Checks every result. Needs no
 * backend.
 */
#include "cli/bench/bench.h"
#include "cli/bench/cases_layouts.h"
#include "cli/bench/rounds.h"

#include <stdio.h>
#include <string.h>

#include "gyre/waiting.h"

#include "cli/bench/kernels/add_messages_wire.h"

enum { ROW = 64, CALLS = ROW * 64 };

struct wire_row {
    dotnet_add sent[ROW], received[ROW];
    uint8_t bytes[ROW][BENCH_DOTNET_REQUEST], copied[ROW][BENCH_DOTNET_REQUEST];
};
static struct wire_row row_of_messages;

static __attribute__((noinline)) bool encode(size_t i)
{
    gyre_wire_out out = {.bytes = row_of_messages.bytes[i], .room = BENCH_DOTNET_REQUEST};
    return gyre_encode_dotnet_add(&out, &row_of_messages.sent[i]) == BENCH_DOTNET_REQUEST;
}

static __attribute__((noinline)) bool decode(size_t i)
{
    gyre_wire_in in = {.bytes = row_of_messages.bytes[i], .length = BENCH_DOTNET_REQUEST};
    return gyre_decode_dotnet_add(&in, &row_of_messages.received[i]);
}

/* memcpy behind a volatile pointer, so that the compiler can neither inline the call nor know its length. */
static void *(*volatile copier)(void *, const void *, size_t) = memcpy;
static volatile size_t copied_size = BENCH_DOTNET_REQUEST;

static __attribute__((noinline)) bool copy(size_t i)
{
    return copier(row_of_messages.copied[i], row_of_messages.bytes[i], copied_size) ==
           row_of_messages.copied[i];
}

static void fill_row(void)
{
    for (size_t i = 0; i < ROW; i++) {
        dotnet_add *add = &row_of_messages.sent[i];
        id128 id;
        memset(&id, (int)i + 1, sizeof id);
        gyre_begin(add);
        add->id = id;
        add->priority = (u8)i;
        add->a = bench_summand(i);
        add->b = 2.5f;
        if (i % 2)
            gyre_put(add, &add->correlation, &id, 1);
        encode(i);
    }
}

/* Counts the requests that encoding and decoding changed, or that failed. */
static uint64_t count_wrong(void)
{
    uint64_t wrong = 0;
    for (size_t i = 0; i < ROW; i++)
        wrong += !encode(i) || !decode(i) ||
                 memcmp(&row_of_messages.received[i], &row_of_messages.sent[i],
                        row_of_messages.sent[i].gyre_used) != 0;
    return wrong;
}

static void measure_calls(bool (*call)(size_t i), uint64_t duration_ns, bench_sample *sample)
{
    const uint64_t start = gyre_clock_ns(), end = start + duration_ns;
    uint64_t now = start, right = 0;
    for (; now < end; now = gyre_clock_ns()) {
        for (size_t i = 0; i < CALLS; i++)
            right += call(i % ROW);
        sample->messages += CALLS;
    }
    sample->errors = sample->messages - right;
    sample->p50 = sample->p99 = sample->p999 = sample->max = (double)(now - start) / (double)sample->messages;
}

static bool floor_copy(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample)
{
    (void)shape;
    bench_pin(bench_core_client());
    fill_row();
    measure_calls(copy, duration_ns, sample);
    bench_pin(-1);
    return true;
}

static gyre_status wire_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    const bench_case *self = context;
    bench_pin(bench_core_client());
    fill_row();
    measure_calls(strstr(self->name, "encode") ? encode : decode, duration_ns, sample);
    sample->errors += count_wrong();
    bench_pin(-1);
    return GYRE_OK;
}

gyre_status bench_run_wire(const bench_case *self, const bench_options *options, bench_row *row)
{
    bench_case whole = *self;
    whole.floor = floor_copy;
    whole.floor_name = "memcpy of the bytes";
    snprintf(row->backend, sizeof row->backend, "none");
    snprintf(row->device, sizeof row->device, "host");
    row->message_bytes = BENCH_DOTNET_REQUEST;
    return bench_rounds(&whole, options, wire_round, &whole, row);
}
