/* SPDX-License-Identifier: Apache-2.0 */
/* Floors of one cache line between two threads that take turns. */
#ifndef GYRE_CLI_BENCH_FLOOR_TURNS_H
#define GYRE_CLI_BENCH_FLOOR_TURNS_H

#include "cli/bench/shape.h"

/** One word in one cache line that changes its owner: what any answer from another core costs. */
bool bench_floor_line(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);
/** The same with both sides asleep in a futex while it is not their turn; the line carries a message of 48
 * bytes. */
bool bench_floor_park(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);

#endif
