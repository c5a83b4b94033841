/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the parts of a round trip, with calls to a kernel that is compiled with `timing`. Each part is a case:
 * `timed/48/there` from the send to the begin of the handler, `/inside` the handler, `/back` from the end of the handler to the
 * caller. On a device with a clock of its own, `there` and `back` are known to half their sum.
 */
#include "cli/bench/bench.h"
#include "cli/bench/cases_device.h"
#include "cli/bench/rounds.h"
#include "cli/bench/session.h"
#include "cli/bench/session_open.h"
#include "cli/bench/story.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

struct timed {
    bench_session session;
    const char *station;
    uint64_t number;
    bench_histogram histogram;
};

static uint64_t part_of(const gyre_timing *timing, const char *station)
{
    if (strcmp(station, "there") == 0)
        return timing->started_ns - timing->sent_ns;
    if (strcmp(station, "inside") == 0)
        return timing->finished_ns - timing->started_ns;
    return timing->received_ns - timing->finished_ns;
}

static gyre_status call_once(struct timed *timed, bench_sample *sample)
{
    words_48 request, reply;
    gyre_completion completion;
    gyre_timing timing = {.size = sizeof timing};
    bench_fill(BENCH_48, &request, timed->number);
    gyre_status status = gyre_call(timed->session.queue, &request, sizeof request, &reply, sizeof reply,
                                   &completion, gyre_in_ms(BENCH_PATIENCE_MS));
    if (status == GYRE_OK)
        status = gyre_timing_get(timed->session.queue, completion.index, &timing);
    if (status != GYRE_OK)
        return status;
    sample->errors += !bench_right(BENCH_48, &reply, timed->number++);
    bench_histogram_add(&timed->histogram, part_of(&timing, timed->station));
    return GYRE_OK;
}

static gyre_status timed_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    struct timed *timed = context;
    gyre_status status = GYRE_OK;
    timed->histogram = (bench_histogram){0};
    bench_pin(bench_core_client());
    for (uint64_t end = gyre_clock_ns() + duration_ns; status == GYRE_OK && gyre_clock_ns() < end;)
        status = call_once(timed, sample);
    bench_pin(-1);
    sample->messages = timed->histogram.count;
    bench_sample_latencies(sample, &timed->histogram);
    return status;
}

gyre_status bench_run_timed(const bench_case *self, const bench_options *options, bench_row *row)
{
    bench_story story;
    struct timed *timed = calloc(1, sizeof *timed);
    if (!timed)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a histogram");
    timed->station = strrchr(self->name, '/') + 1;
    gyre_status status = bench_session_open(self, options, &timed->session, row);
    if (status == GYRE_OK)
        status = bench_rounds(self, options, timed_round, timed, row);
    bench_story_take(&story, status);
    bench_session_close(&timed->session);
    free(timed);
    return bench_story_tell(&story, self);
}
