/* SPDX-License-Identifier: Apache-2.0 */
/* Cases whose floor is a session of Gyre itself. */
#ifndef GYRE_CLI_BENCH_CASES_AGAINST_H
#define GYRE_CLI_BENCH_CASES_AGAINST_H

#include "cli/bench/bench.h"

/** The same case without its settings is the floor; sessions of both in turns. */
gyre_status bench_run_against_call(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_against_stream(const bench_case *self, const bench_options *options, bench_row *row);
/** Sessions of a client of another process, and, as their floor, of the same kernel in this one. */
gyre_status bench_run_attached_call(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_attached_stream(const bench_case *self, const bench_options *options, bench_row *row);

#endif
