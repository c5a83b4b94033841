/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a case and its floor in rounds, and judges the figures by the targets. */
#ifndef GYRE_CLI_BENCH_ROUNDS_H
#define GYRE_CLI_BENCH_ROUNDS_H

#include "cli/bench/bench.h"

/** Runs one round of a case and fills the sample. `context` belongs to the case. */
typedef gyre_status (*bench_round)(void *context, uint64_t duration_ns, bench_sample *sample);

/**
 * Runs floor and case in turns until the time is used up, and fills the row: values, floor, ratios.
 */
gyre_status bench_rounds(const bench_case *self, const bench_options *options, bench_round round,
                         void *context, bench_row *row);

/** Gives the row the targets of its backend: the case's own are those of the CPU. */
void bench_row_aim(const bench_case *self, bench_row *row);
/** Sets `found` of the row's targets from its figures, by their names. */
void bench_row_judge(bench_row *row);
bool bench_target_met(const bench_target *target);

#endif
