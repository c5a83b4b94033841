/* SPDX-License-Identifier: Apache-2.0 */
/* Cases that compare two sessions of Gyre: the floor is a session of Gyre itself. How: case_against.c. */
#ifndef GYRE_CLI_BENCH_CASES_AGAINST_H
#define GYRE_CLI_BENCH_CASES_AGAINST_H

#include "cli/bench/bench.h"

/** Runs a case in turns with the same case without its settings, which is the floor. */
gyre_status bench_run_against_call(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_against_stream(const bench_case *self, const bench_options *options, bench_row *row);
/** Runs a client of a kernel in another process in turns with a client of the same kernel in this process, which
 * is the floor. */
gyre_status bench_run_attached_call(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_attached_stream(const bench_case *self, const bench_options *options, bench_row *row);

#endif
