/* SPDX-License-Identifier: Apache-2.0 */
/* Cases about a device: the times of messages on it, its buffers, and its cost while it is idle. */
#ifndef GYRE_CLI_BENCH_CASES_DEVICE_H
#define GYRE_CLI_BENCH_CASES_DEVICE_H

#include "cli/bench/bench.h"

gyre_status bench_run_timed(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_buffer(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_idle(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_memory(const bench_case *self, const bench_options *options, bench_row *row);

#endif
