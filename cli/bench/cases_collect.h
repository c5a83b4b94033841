/* SPDX-License-Identifier: Apache-2.0 */
/* Cases about collectives (gyre/collect.h). */
#ifndef GYRE_CLI_BENCH_CASES_COLLECT_H
#define GYRE_CLI_BENCH_CASES_COLLECT_H

#include "cli/bench/bench.h"

gyre_status bench_run_collect(const bench_case *self, const bench_options *options, bench_row *row);
/** What it takes at the least: the parts are added up as they lie in memory of this process, and the sum is copied to each. */
bool bench_floor_collect(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);

#endif
