/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of messages from kernels to keyed actors. */
#ifndef GYRE_CLI_BENCH_CASES_KEYED_H
#define GYRE_CLI_BENCH_CASES_KEYED_H

#include "cli/bench/bench.h"

/**
 * A kernel sends to a keyed actor of BENCH_ORDER_KEYS keys, whose states take 64 bytes each. Figures are of one message. What each key has
 * got is compared with what was sent to it, for some keys.
 */
gyre_status bench_run_keyed_linked(const bench_case *self, const bench_options *options, bench_row *row);

#endif
