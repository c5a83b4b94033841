/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares a case with itself without its settings, or a client in another process with a client in this process; the second
 * of each is the floor. Runs pairs of short sessions, one after the other, in an order that changes from pair to pair. Opens
 * each session anew, because two resident kernels at once would share the device, and because the place of memory should
 * differ from sample to sample. The row shows the bounds of the median ratio, so that noise is not taken for a difference.
 */
#include "cli/bench/bench.h"
#include "cli/bench/cases_against.h"
#include "cli/bench/cases_messages.h"

#include <stdlib.h>

#include "core/base/error.h"

/* with a confidence of 96.5 % the median lies between the 4th and the 12th of 15 samples */
enum { PAIRS = 15, RANK = 3 };

typedef gyre_status (*case_function)(const bench_case *self, const bench_options *options, bench_row *row);

struct pairs {
    bench_sample without[PAIRS], with[PAIRS];
};

/* The difference between the two sessions of a pair. */
struct side {
    const char *const *settings;
    bool attached;
};

static gyre_status session_sample(const bench_case *self, const bench_options *options, bench_row *row,
                                  case_function run, struct side side, bench_sample *out)
{
    bench_case one = *self;
    bench_options slice = *options;
    one.settings = side.settings;
    one.floor = NULL;
    slice.attached = side.attached;
    slice.seconds = options->seconds / (2 * PAIRS);
    gyre_status status = run(&one, &slice, row);
    *out = row->value;
    return status;
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double share_of(double value, double floor)
{
    return floor > 0 ? value / floor : 0;
}

static void fill_row(const bench_case *self, const struct pairs *pairs, bench_row *row)
{
    double ratios[PAIRS], tails[PAIRS];
    row->value = bench_sample_median(pairs->with, PAIRS);
    row->floor = bench_sample_median(pairs->without, PAIRS);
    row->value.errors += row->floor.errors;
    row->floor_name = self->floor_name;
    for (int i = 0; i < PAIRS; i++) {
        const bench_sample *with = &pairs->with[i], *without = &pairs->without[i];
        ratios[i] = row->has_latency ? share_of(with->p50, without->p50)
                                     : share_of(with->per_second, without->per_second);
        tails[i] = share_of(with->p99, without->p99);
    }
    qsort(ratios, PAIRS, sizeof ratios[0], by_size);
    row->ratio = ratios[PAIRS / 2];
    row->ratio_low = ratios[RANK];
    row->ratio_high = ratios[PAIRS - 1 - RANK];
    row->ratio_p99 = row->has_latency ? bench_median(tails, PAIRS) : 0;
}

static gyre_status run_pairs(const bench_case *self, const bench_options *options, bench_row *row,
                             case_function run, bool attached)
{
    const struct side sides[] = {{attached ? self->settings : NULL, false}, {self->settings, attached}};
    struct pairs *pairs = calloc(1, sizeof *pairs);
    gyre_status status = pairs ? GYRE_OK : gyre_error_set(GYRE_EXHAUSTED, "no memory for samples");
    for (int i = 0; status == GYRE_OK && i < 2 * PAIRS; i++) {
        bool with = (i + i / 2) % 2 != 0; /* without, with, with, without, ... */
        status = session_sample(self, options, row, run, sides[with],
                                with ? &pairs->with[i / 2] : &pairs->without[i / 2]);
    }
    if (status == GYRE_OK)
        fill_row(self, pairs, row);
    free(pairs);
    return status;
}

gyre_status bench_run_against_call(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_pairs(self, options, row, bench_run_call, false);
}

gyre_status bench_run_against_stream(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_pairs(self, options, row, bench_run_stream, false);
}

gyre_status bench_run_attached_call(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_pairs(self, options, row, bench_run_call, true);
}

gyre_status bench_run_attached_stream(const bench_case *self, const bench_options *options, bench_row *row)
{
    return run_pairs(self, options, row, bench_run_stream, true);
}
