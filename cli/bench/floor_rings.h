/* SPDX-License-Identifier: Apache-2.0 */
/* Floors (work_shape.h) that send messages through bare rings between two threads. */
#ifndef GYRE_CLI_BENCH_FLOOR_RINGS_H
#define GYRE_CLI_BENCH_FLOOR_RINGS_H

#include "cli/bench/work_shape.h"

/**
 * Floors with rings of slots. A slot holds its sequence, which is written last, so a message of up to 48 bytes takes one cache
 * line. "ping_pong" sends one message at a time. "there_and_back" keeps a window under way and counts replies. "burst" measures
 * the time from the first send to the last reply of `burst` messages.
 */
bool bench_floor_slots_ping_pong(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);
bool bench_floor_slots_there_and_back(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);
bool bench_floor_slots_burst(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);

/** A floor with rings of bare messages and an index in a cache line of its own, published once for each burst. */
bool bench_floor_indices_there_and_back(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);

/** The better of the two there_and_back floors. Each runs for half the time. */
bool bench_floor_better_there_and_back(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);

#endif
