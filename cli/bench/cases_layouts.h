/* SPDX-License-Identifier: Apache-2.0 */
/* Cases with two threads for each queue, with messages back to back, and with messages in their wire form. */
#ifndef GYRE_CLI_BENCH_CASES_LAYOUTS_H
#define GYRE_CLI_BENCH_CASES_LAYOUTS_H

#include "cli/bench/bench.h"

gyre_status bench_run_pair(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_wide(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_bridged(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_bridged_pair(const bench_case *self, const bench_options *options, bench_row *row);
/** A floor for bench_run_bridged, while it runs: a stream of fixed messages
 * as long as the bridged messages are on average. */
bool bench_floor_direct(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);
gyre_status bench_run_wire(const bench_case *self, const bench_options *options, bench_row *row);

#endif
