/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of what kernels of a pipeline do with each other: asks, pools, and links between two devices. */
#ifndef GYRE_CLI_BENCH_CASES_BETWEEN_H
#define GYRE_CLI_BENCH_CASES_BETWEEN_H

#include "cli/bench/bench.h"

/** An ask and its answer: a kernel asks another one, many times a request, one ask behind the other. Figures are of one ask. */
gyre_status bench_run_ask(const bench_case *self, const bench_options *options, bench_row *row);

/**
 * Tasks of a pool, 1 % of which take a hundred times as long as the others, all born in one block or in several. The floor is the
 * ideal: the time that one block takes for them by itself, shared by all blocks.
 */
gyre_status bench_run_steal(const bench_case *self, const bench_options *options, bench_row *row);

/** What links between two devices take. UNIMPLEMENTED where no two devices use each other's memory: the case is passed over. */
gyre_status bench_run_link_lone(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_link_rate(const bench_case *self, const bench_options *options, bench_row *row);

#endif
