/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and stops the server thread of a floor (work_shape.h), and allocates memory for its rings. */
#include "cli/bench/floor_server.h"
#include "cli/bench/work_shape.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

static void *server_main(void *argument)
{
    bench_server *server = argument;
    bench_pin(bench_core_server());
    __atomic_store_n(&server->running, 1, __ATOMIC_RELEASE); /* pairs with bench_server_start */
    server->serve(server);
    return NULL;
}

bool bench_server_start(bench_server *server)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, server_main, server) != 0)
        return false;
    server->thread = thread;
    while (!__atomic_load_n(&server->running, __ATOMIC_ACQUIRE))
        sched_yield();
    return true;
}

void bench_server_stop(bench_server *server)
{
    __atomic_store_n(&server->stop, 1, __ATOMIC_RELAXED);
    pthread_join(server->thread, NULL);
}

void *bench_ring_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void bench_ring_free(void *memory, size_t size)
{
    if (memory)
        munmap(memory, size);
}
