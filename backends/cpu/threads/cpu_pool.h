/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads for the tasks of one device (a task is a worker of a kernel). A task that runs has a thread to
 * itself. A task that rests, because no message came for a while, shares a thread: one thread sleeps at the
 * bells of up to CPU_POOL_WATCHED_MAX resting tasks. The thread that a bell wakes runs that bell's task
 * itself, so that the task's first message waits for one thread to wake up; another thread watches on.
 *
 * So a thousand idle kernels need a handful of threads, and a busy kernel is served as fast as by a thread of
 * its own. A thread that rings a bell notices nothing.
 *
 * Linux before 5.16, seccomp filters and valgrind cannot sleep at several bells: cpu_pool_can_watch then
 * returns false, and no task rests.
 */
#ifndef GYRE_CPU_POOL_H
#define GYRE_CPU_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/backend.h"

enum {
    CPU_POOL_WATCHED_MAX = 127, /* Linux sleeps at 128 words at once: these bells, and the watch's own word */
    CPU_POOL_SPARES = 8         /* threads that are kept while they have nothing to do */
};

enum cpu_task_end {
    CPU_TASK_RESTS, /* the pool runs the task again once it has news: see `bell` and `seen` */
    CPU_TASK_ENDED  /* the task may be freed already: the pool never touches it again */
};

/** A task: work for a thread of the pool. Its owner fills it in before cpu_pool_start. */
struct cpu_task {
    /** Runs the task. One thread at a time calls it; after a rest this may be another thread. */
    enum cpu_task_end (*run)(struct cpu_task *task);
    /**
     * Whether a resting task whose bell was rung has to run. Called under the pool's lock; does not block.
     */
    bool (*has_news)(struct cpu_task *task);
    const uint32_t *bell;  /* futex word */
    uint32_t seen;         /* the value of the bell before the task last looked for news */
    int processor;         /* the processor that the task runs on; below 0: any */
    struct cpu_task *next; /* for the pool's lists */
};

struct cpu_pool;

/** Makes a pool; NULL without memory. `stack_size` is the stack of each thread. */
struct cpu_pool *cpu_pool_create(const gyre_host *host, size_t stack_size);

/** Joins all threads and frees the pool. Every task has ended before. Accepts NULL. */
void cpu_pool_destroy(struct cpu_pool *pool);

/** Whether tasks may rest: the system can sleep at several bells. */
bool cpu_pool_can_watch(const struct cpu_pool *pool);

/**
 * Gives the task a thread. Returns 0, or the error of pthread_create, and then nothing was started. Any
 * thread may call it.
 */
int cpu_pool_start(struct cpu_pool *pool, struct cpu_task *task);

/** Gives the task a thread, or where none can be started, the next one that is free. Any thread may call it. */
void cpu_pool_hand_over(struct cpu_pool *pool, struct cpu_task *task);

/** How many processors the thread that made the pool may use. */
uint32_t cpu_pool_processors(const struct cpu_pool *pool);

/**
 * Called by a task as its last act: decrements the futex word `present`, and wakes the threads that sleep at
 * it when it becomes 0. The waiting thread may free the task's memory once `present` is 0 and the thread's
 * call of cpu_pool_settle has returned.
 */
void cpu_pool_leave(struct cpu_pool *pool, uint32_t *present);
void cpu_pool_settle(struct cpu_pool *pool);

#endif
