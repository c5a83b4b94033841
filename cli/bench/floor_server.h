/* SPDX-License-Identifier: Apache-2.0 */
/* The server thread of a floor (work_shape.h), which answers the floor's client, and memory for the floor's rings. */
#ifndef GYRE_CLI_BENCH_FLOOR_SERVER_H
#define GYRE_CLI_BENCH_FLOOR_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A thread that serves a floor: pinned, started before `bench_server_start` returns. */
typedef struct bench_server {
    void (*serve)(struct bench_server *server); /* the thread's work; returns when `stop` is set */
    void *context;
    uint64_t errors;
    pthread_t thread;
    _Alignas(64) uint32_t running, stop;
} bench_server;

bool bench_server_start(bench_server *server);
void bench_server_stop(bench_server *server);

static inline bool bench_server_stopped(const bench_server *server)
{
    return __atomic_load_n(&server->stop, __ATOMIC_RELAXED) != 0;
}

/** Allocates memory for rings, zeroed and present, in shareable pages like a queue's. NULL without memory. */
void *bench_ring_memory(size_t size);
void bench_ring_free(void *memory, size_t size);

#endif
