/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the rounds of a case: cache-line ping-pong ("line"), floor, case, line, floor, case ... Each ratio of case and floor
 * comes from one round, so that a disturbance of the machine slows both. The row has the median of these ratios, which is not
 * the ratio of the medians.
 */
#include "cli/bench/rounds.h"
#include "cli/bench/bench.h"
#include "cli/bench/floor_turns.h"

#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

enum { ROUNDS = 15 };

struct round_samples {
    bench_sample line[ROUNDS], floor[ROUNDS], value[ROUNDS];
};

static gyre_status no_floor(const bench_case *self)
{
    return gyre_error_set(GYRE_EXHAUSTED,
                          "case %s: no memory or thread for its floor: free some, or leave the case out",
                          self->name);
}

/* Runs a round of the case, whose time the row tells, behind one of its floor. */
static gyre_status run_round(const bench_case *self, bench_round round, void *context, uint64_t slice_ns,
                             struct round_samples *samples, bench_row *row)
{
    const size_t number = row->round_count;
    bench_span *span = &row->rounds[number];
    if (self->floor) {
        if (!bench_floor_line(&self->shape, slice_ns / 4, &samples->line[number]) ||
            !self->floor(&self->shape, slice_ns, &samples->floor[number]))
            return no_floor(self);
    }
    span->begin_ns = gyre_clock_ns();
    const gyre_status status = round(context, slice_ns, &samples->value[number]);
    span->end_ns = gyre_clock_ns();
    span->messages = samples->value[number].messages;
    row->round_count++;
    return status;
}

static void rest(uint64_t ms)
{
    const struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    if (ms)
        nanosleep(&time, NULL);
}

static double share_of(double value, double floor)
{
    return floor > 0 ? value / floor : 0;
}

static void fill_ratios(bench_row *row, const struct round_samples *samples)
{
    double ratios[ROUNDS], tails[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        const bench_sample *value = &samples->value[i], *floor = &samples->floor[i];
        ratios[i] = row->has_latency ? share_of(value->p50, floor->p50)
                                     : share_of(value->per_second, floor->per_second);
        tails[i] = share_of(value->p99, floor->p99);
    }
    row->ratio = bench_median(ratios, ROUNDS);
    row->ratio_p99 = row->has_latency ? bench_median(tails, ROUNDS) : 0;
}

gyre_status bench_rounds(const bench_case *self, const bench_options *options, bench_round round,
                         void *context, bench_row *row)
{
    struct round_samples samples = {0};
    double parts = self->floor ? 2.25 : 1;
    uint64_t slice_ns = (uint64_t)(options->seconds * 1e9 / ((double)ROUNDS * parts));
    row->round_count = 0;
    for (int i = 0; i < ROUNDS; i++) {
        gyre_status status = run_round(self, round, context, slice_ns, &samples, row);
        if (status != GYRE_OK)
            return status;
        rest(options->rest_ms);
    }
    row->value = bench_sample_median(samples.value, ROUNDS);
    row->has_rate = row->value.per_second > 0;
    row->has_latency = row->value.p50 > 0;
    if (self->floor) {
        bench_sample line = bench_sample_median(samples.line, ROUNDS);
        row->line_p50 = line.p50;
        row->line_p99 = line.p99;
        row->floor = bench_sample_median(samples.floor, ROUNDS);
        row->floor_name = self->floor_name;
        /* a wrong reply in the floor makes the row just as worthless */
        row->value.errors += row->floor.errors;
        fill_ratios(row, &samples);
    }
    return GYRE_OK;
}

/* ---- targets ---- */

static const struct {
    const char *what;
    size_t member; /* of bench_row, a double */
} figures[] = {
    {"ratio", offsetof(bench_row, ratio)},
    {"p50 ratio", offsetof(bench_row, ratio)},
    {"p99 ratio", offsetof(bench_row, ratio_p99)},
    {"rate", offsetof(bench_row, value.per_second)},
    {"max", offsetof(bench_row, value.max)},
    {"p50", offsetof(bench_row, value.p50)},
    {"p99", offsetof(bench_row, value.p99)},
    {"cpu", offsetof(bench_row, value.cpu)},
    {"above floor", offsetof(bench_row, above_floor)},
};

void bench_row_judge(bench_row *row)
{
    for (size_t i = 0; i < row->target_count; i++) {
        bench_target *target = &row->targets[i];
        if (strcmp(target->what, "resident") == 0)
            target->found = (double)row->resident_bytes;
        for (size_t k = 0; k < sizeof figures / sizeof figures[0]; k++)
            if (strcmp(target->what, figures[k].what) == 0)
                memcpy(&target->found, (const char *)row + figures[k].member, sizeof target->found);
    }
}

bool bench_target_met(const bench_target *target)
{
    return target->at_least ? target->found >= target->limit : target->found <= target->limit;
}
