/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of the server of a floor, and memory for its rings. */
#ifndef GYRE_CLI_BENCH_FLOOR_SERVER_H
#define GYRE_CLI_BENCH_FLOOR_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
