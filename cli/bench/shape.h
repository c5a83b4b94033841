/* SPDX-License-Identifier: Apache-2.0 */
/* How messages of a case go there and back, and what its floor is called with. */
#ifndef GYRE_CLI_BENCH_SHAPE_H
#define GYRE_CLI_BENCH_SHAPE_H

#include "cli/bench/measure.h"
#include "cli/bench/work.h"

/** How messages go there and back. */
typedef struct bench_shape {
    enum bench_kind kind;
    uint64_t capacity;  /* slots, a power of two; 0: as many as a queue has by itself */
    uint64_t window;    /* messages under way at most, up to `capacity`, and 0 with it */
    uint64_t burst;     /* the client sends and receives up to so many at a time */
    unsigned producers; /* clients, each with a ring of its own; 0 is 1 */
} bench_shape;

/**
 * A floor: what the machine itself does with the same messages, written as plainly as possible and without any of Gyre. A case is
 * told as a ratio to its floor of the same minute. Every payload is checked here too.
 *
 * Runs one round with the calling thread as the client, pinned to bench_core_client() for the round, and a server on
 * bench_core_server(). False when memory or threads cannot be had.
 */
typedef bool (*bench_floor)(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);

#endif
