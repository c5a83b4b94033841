/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a case (how its messages travel), and the type of a floor, the plain measurement that a case
 * is compared with. */
#ifndef GYRE_CLI_BENCH_WORK_SHAPE_H
#define GYRE_CLI_BENCH_WORK_SHAPE_H

#include "cli/bench/measure.h"
#include "cli/bench/work.h"

/** How requests and replies of a case travel. */
typedef struct bench_shape {
    enum bench_kind kind;
    uint64_t capacity;  /* slots, a power of two; 0: the default capacity of a queue */
    uint64_t window;    /* most messages under way, up to `capacity`; 0 when `capacity` is 0 */
    uint64_t burst;     /* most messages that the client sends or receives at once */
    unsigned producers; /* clients, each with a ring of its own; 0 means 1 */
} bench_shape;

/**
 * A floor: a measurement of the bare machine with the same messages as the case, in code as plain as possible and without Gyre.
 * A case is reported as a ratio to its floor of the same minute. A floor checks every payload, too.
 *
 * Runs one round with the calling thread as the client, pinned to bench_core_client() for the round, and a server on
 * bench_core_server(). False when memory or threads cannot be had.
 */
typedef bool (*bench_floor)(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);

#endif
