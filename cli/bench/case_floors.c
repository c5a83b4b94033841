/* SPDX-License-Identifier: Apache-2.0 */
/* Runs cases that are only a floor: they measure the machine without any backend. */
#include "cli/bench/bench.h"
#include "cli/bench/cases_messages.h"
#include "cli/bench/rounds.h"

#include <stdio.h>

#include "core/base/error.h"

static gyre_status floor_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    const bench_case *self = context;
    if (self->floor(&self->shape, duration_ns, sample))
        return GYRE_OK;
    return gyre_error_set(GYRE_EXHAUSTED, "case %s: no memory or thread for it: free some, or leave it out",
                          self->name);
}

gyre_status bench_run_floor(const bench_case *self, const bench_options *options, bench_row *row)
{
    bench_case alone = *self;
    alone.floor = NULL; /* it is the case itself */
    snprintf(row->backend, sizeof row->backend, "none");
    snprintf(row->device, sizeof row->device, "host");
    bench_case whole = *self;
    return bench_rounds(&alone, options, floor_round, &whole, row);
}
