/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads for the tasks of one device. A task that runs has a thread to itself. Tasks that rest, because nothing
 * came for a while, are watched together: one thread sleeps at the bells of up to CPU_POOL_WATCHED_MAX of them. The
 * thread that a bell wakes runs that bell's task itself, so that its first message waits for one thread to wake up,
 * and another thread goes on watching.
 *
 * A thousand kernels that are idle so take a handful of threads, and a kernel that is busy is served as by a thread
 * of its own. A thread that rings a bell notices nothing.
 *
 * Linux before 5.16, seccomp filters and valgrind know no sleep at several bells: cpu_pool_can_watch says so, and a
 * task there never rests.
 */
#ifndef GYRE_CPU_POOL_H
#define GYRE_CPU_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/backend.h"

enum {
    CPU_POOL_WATCHED_MAX = 127, /* Linux sleeps at 128 words at once: these, and the watcher's own */
    CPU_POOL_SPARES = 8         /* threads that are kept without anything to do */
};

enum cpu_task_end {
    CPU_TASK_RESTS, /* `bell` and `seen` say until when: the pool runs the task again once it has news */
    CPU_TASK_ENDED  /* the task may be gone: the pool never touches it again */
};

/** Work for a thread of the pool. The owner fills it in before cpu_pool_start. */
struct cpu_task {
    /** Called by one thread at a time, perhaps by another one after each rest. */
    enum cpu_task_end (*run)(struct cpu_task *task);
    /** Whether a resting task whose bell was rung has to run. Called under the pool's lock; does not block. */
    bool (*has_news)(struct cpu_task *task);
    const uint32_t *bell;  /* futex word */
    uint32_t seen;         /* the value of the bell before the task last looked for news */
    int processor;         /* that it runs on; below 0: any */
    struct cpu_task *next; /* the pool's */
};

struct cpu_pool;

/** NULL without memory. `stack_size`: of each thread. */
struct cpu_pool *cpu_pool_create(const gyre_host *host, size_t stack_size);

/** Joins all threads. Every task has ended. Accepts NULL. */
void cpu_pool_destroy(struct cpu_pool *pool);

/** Whether tasks may rest: the system can sleep at several bells. */
bool cpu_pool_can_watch(const struct cpu_pool *pool);

/** Gives the task a thread. 0, or what pthread_create returned: then nothing was started. Threads: any. */
int cpu_pool_start(struct cpu_pool *pool, struct cpu_task *task);

/**
 * The last act of a task: decrements the futex word `present` and wakes the threads that sleep at it when it becomes 0.
 * Its memory may be freed once it is 0 and cpu_pool_settle, which the waiting thread calls, has returned.
 */
void cpu_pool_leave(struct cpu_pool *pool, uint32_t *present);
void cpu_pool_settle(struct cpu_pool *pool);

#endif
