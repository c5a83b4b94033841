/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures how long a kernel is away when it leaves its device for a moment. Its stays are bounded to two milliseconds, and
 * calls go on meanwhile. Each absence in gyre_kernel_info is one latency. A backend whose kernels never leave has none. One
 * thread.
 */
#include "cli/bench/bench.h"
#include "cli/bench/cases_lifecycle.h"
#include "cli/bench/rounds.h"
#include "cli/bench/runtime.h"
#include "cli/bench/session.h"
#include "cli/bench/session_open.h"
#include "cli/bench/story.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

struct absences {
    bench_session session;
    uint64_t number; /* of the next call */
    uint64_t count, total_ns;
    bench_histogram histogram;
};

/* Reads the absences. The backend writes several words, which belong together when nothing changed between two looks. */
static gyre_status read_absences(const gyre_kernel *kernel, gyre_kernel_info *info)
{
    gyre_status status;
    uint64_t total_ns;
    do {
        *info = (gyre_kernel_info){.size = sizeof *info};
        status = gyre_kernel_info_get(kernel, info);
        total_ns = info->absent_ns;
        if (status == GYRE_OK)
            status = gyre_kernel_info_get(kernel, info);
    } while (status == GYRE_OK && total_ns != info->absent_ns);
    return status;
}

static gyre_status look_for_absence(struct absences *absences, bench_sample *sample)
{
    gyre_kernel_info info;
    gyre_status status =
        bench_call_checked(absences->session.queue, BENCH_48, absences->number++, &sample->errors);
    if (status == GYRE_OK)
        status = read_absences(absences->session.kernel, &info);
    if (status != GYRE_OK)
        return status;
    /* if two absences ended since, their single lengths are unknown */
    if (info.absences == absences->count + 1)
        bench_histogram_add(&absences->histogram, info.absent_ns - absences->total_ns);
    absences->count = info.absences;
    absences->total_ns = info.absent_ns;
    sample->messages++;
    return GYRE_OK;
}

static gyre_status yield_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    struct absences *absences = context;
    gyre_status status = GYRE_OK;
    absences->histogram = (bench_histogram){0};
    for (uint64_t end = gyre_clock_ns() + duration_ns; status == GYRE_OK && gyre_clock_ns() < end;)
        status = look_for_absence(absences, sample);
    bench_sample_latencies(sample, &absences->histogram);
    return status;
}

static gyre_status run_yield(const bench_case *self, const bench_options *options, bench_row *row)
{
    bench_story story;
    struct absences *absences = calloc(1, sizeof *absences);
    if (!absences)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a histogram");
    gyre_status status = bench_session_open(self, options, &absences->session, row);
    if (status == GYRE_OK)
        status = bench_rounds(self, options, yield_round, absences, row);
    bench_story_take(&story, status);
    bench_session_close(&absences->session);
    free(absences);
    return bench_story_tell(&story, self);
}

gyre_status bench_run_wide_yield(const bench_case *self, const bench_options *options, bench_row *row)
{
    return bench_run_widely(self, options, row, run_yield);
}
