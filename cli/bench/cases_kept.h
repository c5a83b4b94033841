/* SPDX-License-Identifier: Apache-2.0 */
/* Cases about recovery, checkpoints and journals, which outlast a worker process or the program. */
#ifndef GYRE_CLI_BENCH_CASES_KEPT_H
#define GYRE_CLI_BENCH_CASES_KEPT_H

#include "cli/bench/bench.h"

gyre_status bench_run_recover_fault(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_recover_standby(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_recover_loop(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_checkpoint(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_journal_stream(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_journal_call(const bench_case *self, const bench_options *options, bench_row *row);
/** Floors for cases of journals, while such a case runs: the disk writes the bytes of a burst, without or with a sync. */
bool bench_floor_write(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);
bool bench_floor_sync(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);

#endif
