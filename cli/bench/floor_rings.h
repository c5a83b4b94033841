/* SPDX-License-Identifier: Apache-2.0 */
/* Floors of bare rings between two threads. */
#ifndef GYRE_CLI_BENCH_FLOOR_RINGS_H
#define GYRE_CLI_BENCH_FLOOR_RINGS_H

#include "cli/bench/shape.h"

/**
 * Rings of slots that carry their sequence, written last: a message of up to 48 bytes is one cache line.
 * Ping-pong is one message at a time. There and back keeps a window under way and counts replies. A burst is
 * the time from the first send to the last reply of `burst` messages.
 */
bool bench_floor_slots_ping_pong(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);
bool bench_floor_slots_there_and_back(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);
bool bench_floor_slots_burst(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);

/** Rings of bare messages with an index in a line of its own, published once a burst. */
bool bench_floor_indices_there_and_back(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);

/** The better of the two rings, there and back: a round of half the time each. */
bool bench_floor_better_there_and_back(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);

#endif
