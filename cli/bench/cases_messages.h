/* SPDX-License-Identifier: Apache-2.0 */
/* Cases that send messages through one queue and receive their replies. */
#ifndef GYRE_CLI_BENCH_CASES_MESSAGES_H
#define GYRE_CLI_BENCH_CASES_MESSAGES_H

#include "cli/bench/bench.h"

gyre_status bench_run_floor(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_call(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_burst(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_stream(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_stream_in_place(const bench_case *self, const bench_options *options, bench_row *row);

#endif
