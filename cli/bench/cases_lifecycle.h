/* SPDX-License-Identifier: Apache-2.0 */
/* Cases about the life of a kernel: compile, launch, yield, end. */
#ifndef GYRE_CLI_BENCH_CASES_LIFECYCLE_H
#define GYRE_CLI_BENCH_CASES_LIFECYCLE_H

#include "cli/bench/bench.h"

gyre_status bench_run_launch(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_terminate(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_deactivate(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_wide_yield(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_compile_cold(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_compile_cached(const bench_case *self, const bench_options *options, bench_row *row);

#endif
