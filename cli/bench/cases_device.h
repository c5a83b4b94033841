/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of what a device does beside messages: their times, its buffers, and what it costs while it is idle. */
#ifndef GYRE_CLI_BENCH_CASES_DEVICE_H
#define GYRE_CLI_BENCH_CASES_DEVICE_H

#include "cli/bench/bench.h"

gyre_status bench_run_timed(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_buffer(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_idle(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_memory(const bench_case *self, const bench_options *options, bench_row *row);

#endif
