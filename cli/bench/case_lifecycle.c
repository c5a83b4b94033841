/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures launch, terminate and deactivate. Each kernel answers a checked message before it is stopped: a launch counts only
 * when the kernel works, and a stop only when the kernel worked before.
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

enum which { LAUNCH, TERMINATE };

struct cycle {
    gyre_runtime *runtime;
    enum bench_kind kind;
    enum which which;
    bench_row *row;
    uint64_t number;
    bench_histogram histogram;
};

static gyre_status terminate_and_release(gyre_kernel *kernel, uint64_t *duration_ns, uint64_t *errors)
{
    uint64_t unhandled = 0, start = gyre_clock_ns();
    gyre_status status = gyre_kernel_terminate(kernel, gyre_in_ms(BENCH_PATIENCE_MS), &unhandled);
    *duration_ns = gyre_clock_ns() - start;
    *errors += unhandled;
    gyre_kernel_release(kernel);
    return status;
}

/* One life: launch, an answered message, terminate. */
static gyre_status live_once(struct cycle *cycle, bench_sample *sample)
{
    gyre_kernel *kernel = NULL;
    uint64_t start = gyre_clock_ns(), termination = 0;
    gyre_status status = bench_launch(cycle->runtime, cycle->kind, &kernel);
    uint64_t launch = gyre_clock_ns() - start;
    if (status != GYRE_OK)
        return status;
    bench_note_kernel(kernel, cycle->row);
    status = bench_call_checked(gyre_kernel_queue(kernel), cycle->kind, cycle->number++, &sample->errors);
    if (status == GYRE_OK)
        status = terminate_and_release(kernel, &termination, &sample->errors);
    bench_histogram_add(&cycle->histogram, cycle->which == LAUNCH ? launch : termination);
    sample->messages++;
    return status; /* a kernel that failed is released with its runtime */
}

static gyre_status cycle_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    struct cycle *cycle = context;
    gyre_status status = GYRE_OK;
    uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns();
    cycle->histogram = (bench_histogram){0};
    do
        status = live_once(cycle, sample);
    while (status == GYRE_OK && gyre_clock_ns() - start < duration_ns);
    sample->cpu = (double)(bench_cpu_ns() - cpu) / (double)(gyre_clock_ns() - start);
    bench_sample_latencies(sample, &cycle->histogram);
    return status;
}

static gyre_status run_cycles(const bench_case *self, const bench_options *options, enum which which,
                              bench_row *row)
{
    bench_sample first = {0};
    bench_story story;
    struct cycle *cycle = calloc(1, sizeof *cycle);
    if (!cycle)
        return gyre_error_set(GYRE_EXHAUSTED, "case %s: out of memory", self->name);
    cycle->kind = self->shape.kind;
    cycle->which = which;
    cycle->row = row;
    gyre_status status = bench_runtime_open(self, options, NULL, &cycle->runtime);
    if (status == GYRE_OK)
        status = live_once(cycle, &first); /* opens the device and fills the cache */
    if (status == GYRE_OK)
        status = bench_rounds(self, options, cycle_round, cycle, row);
    bench_story_take(&story, status);
    gyre_close(cycle->runtime);
    free(cycle);
    return bench_story_tell(&story, self);
}

gyre_status bench_run_launch(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_cycles(self, options, LAUNCH, row);
}

gyre_status bench_run_terminate(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_cycles(self, options, TERMINATE, row);
}

/* ---- deactivate --------------------------------------------------------------------------------------- */

struct pauses {
    bench_session session;
    uint64_t number;
    bench_histogram histogram;
};

/* An inactive kernel answers nothing; once active, it answers what was sent meanwhile. */
static gyre_status check_pause(struct pauses *pauses, uint64_t *errors)
{
    words_48 request, reply;
    gyre_queue *queue = pauses->session.queue;
    uint64_t number = pauses->number++;
    bench_fill(BENCH_48, &request, number);
    gyre_status status = gyre_send(queue, &request, sizeof request, NULL, gyre_in_ms(BENCH_PATIENCE_MS));
    if (status != GYRE_OK)
        return status;
    *errors += gyre_receive(queue, &reply, sizeof reply, NULL, GYRE_NO_WAIT) == GYRE_OK;
    status = gyre_kernel_activate(pauses->session.kernel, gyre_in_ms(BENCH_PATIENCE_MS));
    if (status == GYRE_OK)
        status = gyre_receive(queue, &reply, sizeof reply, NULL, gyre_in_ms(BENCH_PATIENCE_MS));
    if (status == GYRE_OK)
        *errors += !bench_right(BENCH_48, &reply, number);
    return status;
}

static gyre_status pause_once(struct pauses *pauses, bench_sample *sample)
{
    gyre_status status =
        bench_call_checked(pauses->session.queue, BENCH_48, pauses->number++, &sample->errors);
    if (status != GYRE_OK)
        return status;
    uint64_t start = gyre_clock_ns();
    status = gyre_kernel_deactivate(pauses->session.kernel, gyre_in_ms(BENCH_PATIENCE_MS));
    bench_histogram_add(&pauses->histogram, gyre_clock_ns() - start);
    sample->messages++;
    return status == GYRE_OK ? check_pause(pauses, &sample->errors) : status;
}

static gyre_status pause_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    struct pauses *pauses = context;
    gyre_status status = GYRE_OK;
    uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns();
    pauses->histogram = (bench_histogram){0};
    bench_pin(bench_core_client());
    do
        status = pause_once(pauses, sample);
    while (status == GYRE_OK && gyre_clock_ns() - start < duration_ns);
    bench_pin(-1);
    sample->cpu = (double)(bench_cpu_ns() - cpu) / (double)(gyre_clock_ns() - start);
    bench_sample_latencies(sample, &pauses->histogram);
    return status;
}

gyre_status bench_run_deactivate(const bench_case *self, const bench_options *options, bench_row *row)
{
    struct pauses *pauses = calloc(1, sizeof *pauses);
    bench_story story;
    if (!pauses)
        return gyre_error_set(GYRE_EXHAUSTED, "case %s: out of memory", self->name);
    gyre_status status = bench_session_open(self, options, &pauses->session, row);
    if (status == GYRE_OK)
        status = bench_rounds(self, options, pause_round, pauses, row);
    bench_story_take(&story, status);
    bench_session_close(&pauses->session);
    free(pauses);
    return bench_story_tell(&story, self);
}
