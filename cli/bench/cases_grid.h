/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of grid kernels. */
#ifndef GYRE_CLI_BENCH_CASES_GRID_H
#define GYRE_CLI_BENCH_CASES_GRID_H

#include "cli/bench/bench.h"

/**
 * A barrier of all blocks of a grid kernel, many times a request. Figures are of one barrier. The floor is a bare counter in the same
 * kernel.
 */
gyre_status bench_run_barrier(const bench_case *self, const bench_options *options, bench_row *row);

#endif
