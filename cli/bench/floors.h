/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floors: what the machine itself does with the same messages, written as plainly as possible and without
 * any of Gyre. A case is told as a ratio to its floor of the same minute. Every payload is checked here too.
 *
 * Each function runs one round with the calling thread as the client, pinned to bench_core_client() for the
 * round, and a server on bench_core_server(). It returns false when memory or threads cannot be had.
 */
#ifndef GYRE_CLI_BENCH_FLOORS_H
#define GYRE_CLI_BENCH_FLOORS_H

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

typedef bool (*bench_floor)(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);

/** One word in one cache line that changes its owner: what any answer from another core costs. */
bool bench_floor_line(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);
/** The same with both sides asleep in a futex while it is not their turn; the line carries a message of 48
 * bytes. */
bool bench_floor_park(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);

/**
 * Rings of slots that carry their sequence, written last: a message of up to 48 bytes is one cache line.
 * Ping-pong is one message at a time; there and back keeps a window under way and counts replies; a burst is
 * the time from the first send to the last reply of `burst` messages; one way has no replies: the server
 * checks what comes and gives the slots back.
 */
bool bench_floor_slots_ping_pong(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);
bool bench_floor_slots_there_and_back(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);
bool bench_floor_slots_burst(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);
bool bench_floor_slots_one_way(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);

/** Rings of bare messages with an index in a line of its own, published once a burst. */
bool bench_floor_indices_there_and_back(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);

/** The better of the two rings, there and back: a round of half the time each. */
bool bench_floor_better_there_and_back(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);

/** A thread that serves a floor: pinned, started before `bench_server_start` returns. */
typedef struct bench_server {
    void (*serve)(struct bench_server *server); /* until `stop` */
    void *context;
    uint64_t errors;
    unsigned long thread;
    _Alignas(64) uint32_t running, stop;
} bench_server;

bool bench_server_start(bench_server *server);
void bench_server_stop(bench_server *server);

static inline bool bench_server_stopped(const bench_server *server)
{
    return __atomic_load_n(&server->stop, __ATOMIC_RELAXED) != 0;
}

/** Memory for rings, zeroed and present, as queues have it: shareable pages. NULL when there is none. */
void *bench_ring_memory(size_t size);
void bench_ring_free(void *memory, size_t size);

#endif
