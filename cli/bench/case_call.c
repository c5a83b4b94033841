/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how long a caller waits for one message, and for a burst of messages. The loops allocate nothing. */
#include "cli/bench/bench.h"
#include "cli/bench/cases_messages.h"
#include "cli/bench/rounds.h"
#include "cli/bench/session.h"
#include "cli/bench/session_open.h"
#include "cli/bench/story.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

struct caller {
    bench_session session;
    uint64_t number;         /* number of the next request */
    unsigned char *requests; /* room for one request for calls, for `burst` requests for bursts */
    unsigned char *replies;
    bench_histogram histogram;
};

static gyre_status caller_open(const bench_case *self, const bench_options *options, bench_row *row,
                               struct caller **out)
{
    struct caller *caller = aligned_alloc(64, (sizeof *caller + 63) / 64 * 64);
    size_t size = (sizeof(words_65536) * self->shape.burst + 63) / 64 * 64;
    if (caller)
        *caller = (struct caller){.requests = aligned_alloc(64, size), .replies = aligned_alloc(64, size)};
    *out = caller;
    if (!caller || !caller->requests || !caller->replies)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for messages");
    return bench_session_open(self, options, &caller->session, row);
}

static void caller_close(struct caller *caller)
{
    if (!caller)
        return;
    bench_session_close(&caller->session);
    free(caller->requests);
    free(caller->replies);
    free(caller);
}

static gyre_status run_rounds(const bench_case *self, const bench_options *options, bench_round round,
                              bench_row *row)
{
    struct caller *caller = NULL;
    bench_story story;
    gyre_status status = caller_open(self, options, row, &caller);
    if (status == GYRE_OK)
        status = bench_rounds(self, options, round, caller, row);
    bench_story_take(&story, status);
    caller_close(caller);
    return bench_story_tell(&story, self);
}

/* The beginning and the end of every round, around its loop. */
static gyre_status time_calls(struct caller *caller,
                              gyre_status (*loop)(struct caller *, uint64_t, bench_sample *),
                              uint64_t duration_ns, bench_sample *sample)
{
    caller->histogram = (bench_histogram){0};
    bench_pin(bench_core_client());
    uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns();
    gyre_status status = loop(caller, duration_ns, sample);
    double elapsed = (double)(gyre_clock_ns() - start);
    bench_pin(-1);
    sample->cpu = (double)(bench_cpu_ns() - cpu) / elapsed;
    sample->per_second = (double)sample->messages * 1e9 / elapsed;
    bench_sample_latencies(sample, &caller->histogram);
    return status;
}

/* ---- calls -------------------------------------------------------------------------------------------- */

static BENCH_INLINE gyre_status call_kind(struct caller *caller, enum bench_kind kind, uint64_t duration_ns,
                                          bench_sample *sample)
{
    const uint64_t deadline = gyre_in_ms(BENCH_PATIENCE_MS);
    gyre_status status = GYRE_OK;
    uint64_t start = gyre_clock_ns(), before = start;
    while (before - start < duration_ns) {
        bench_fill(kind, caller->requests, caller->number);
        status = gyre_call(caller->session.queue, caller->requests, bench_request_size(kind), caller->replies,
                           bench_reply_size(kind), NULL, deadline);
        if (status != GYRE_OK)
            break;
        sample->errors += !bench_right(kind, caller->replies, caller->number++);
        uint64_t now = gyre_clock_ns();
        bench_histogram_add(&caller->histogram, now - before);
        before = now;
    }
    sample->messages = caller->histogram.count;
    return status;
}

static gyre_status call_loop(struct caller *caller, uint64_t duration_ns, bench_sample *sample)
{
    gyre_status status = GYRE_OK;
    BENCH_FOR_KIND(caller->session.shape.kind, status = call_kind(caller, KIND, duration_ns, sample))
    return status;
}

static gyre_status call_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    return time_calls(context, call_loop, duration_ns, sample);
}

gyre_status bench_run_call(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_rounds(self, options, call_round, row);
}

/* ---- bursts ------------------------------------------------------------------------------------------- */

static BENCH_INLINE gyre_status send_burst(struct caller *caller, enum bench_kind kind, uint64_t deadline_ns)
{
    const size_t size = bench_request_size(kind), count = caller->session.shape.burst;
    gyre_status status = GYRE_OK;
    for (size_t i = 0; i < count; i++)
        bench_fill(kind, caller->requests + i * size, caller->number + i);
    for (size_t done = 0, sent; status == GYRE_OK && done < count; done += sent)
        status = gyre_send_batch(caller->session.queue, caller->requests + done * size, size, count - done,
                                 &sent, deadline_ns);
    return status;
}

static BENCH_INLINE gyre_status receive_burst(struct caller *caller, enum bench_kind kind,
                                              uint64_t deadline_ns, uint64_t *errors)
{
    const size_t size = bench_reply_size(kind), count = caller->session.shape.burst;
    size_t done = 0, received = 0;
    while (done < count) {
        gyre_status status = gyre_receive_batch(caller->session.queue, caller->replies, size, count - done,
                                                NULL, &received, deadline_ns);
        if (status != GYRE_OK)
            return status;
        for (size_t i = 0; i < received; i++)
            *errors += !bench_right(kind, caller->replies + i * size, caller->number++);
        done += received;
    }
    return GYRE_OK;
}

static BENCH_INLINE gyre_status burst_kind(struct caller *caller, enum bench_kind kind, uint64_t duration_ns,
                                           bench_sample *sample)
{
    const uint64_t deadline = gyre_in_ms(BENCH_PATIENCE_MS);
    uint64_t start = gyre_clock_ns(), before = start;
    while (before - start < duration_ns) {
        gyre_status status = send_burst(caller, kind, deadline);
        if (status == GYRE_OK)
            status = receive_burst(caller, kind, deadline, &sample->errors);
        if (status != GYRE_OK)
            return status;
        uint64_t now = gyre_clock_ns();
        bench_histogram_add(&caller->histogram, now - before);
        before = now;
        sample->messages += caller->session.shape.burst;
    }
    return GYRE_OK;
}

static gyre_status burst_loop(struct caller *caller, uint64_t duration_ns, bench_sample *sample)
{
    gyre_status status = GYRE_OK;
    BENCH_FOR_KIND(caller->session.shape.kind, status = burst_kind(caller, KIND, duration_ns, sample))
    return status;
}

static gyre_status burst_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    return time_calls(context, burst_loop, duration_ns, sample);
}

gyre_status bench_run_burst(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_rounds(self, options, burst_round, row);
}
