/* SPDX-License-Identifier: Apache-2.0 */
/* Floors (work_shape.h) in which two threads take turns on one cache line. */
#ifndef GYRE_CLI_BENCH_FLOOR_TURNS_H
#define GYRE_CLI_BENCH_FLOOR_TURNS_H

#include "cli/bench/work_shape.h"

/** Both threads spin on one word in a cache line: the least cost of an answer from another core. */
bool bench_floor_line(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);
/** Each thread sleeps in a futex while it is the other thread's turn. The cache line carries a message of 48
 * bytes. */
bool bench_floor_park(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);

#endif
