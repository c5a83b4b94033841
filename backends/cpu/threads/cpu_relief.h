/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Relief for threads that follow their messages (cpu_walk.h). A thread that runs another stage's handler does not look after
 * its own worker meanwhile. When it has not come back after a moment, because that handler takes long or does not return, its
 * worker goes on in another thread of the pool, and the thread that comes back late finds nothing left to do.
 *
 * The relief is a task of the pool: it looks at all walks twice a millisecond while there are any, and rests otherwise.
 *
 * Lock: relief->lock guards the list of visitors; the pool's lock is taken under it.
 */
#ifndef GYRE_CPU_RELIEF_H
#define GYRE_CPU_RELIEF_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/cpu/threads/cpu_pool.h"

struct cpu_relief;

/** A thread that runs a worker and may walk. It lies in that thread's stack; zeroed at first. */
struct cpu_visitor {
    uint64_t walks; /* odd: away. All ones: its worker was given to another thread */
    uint64_t seen;  /* of the relief: `walks` when it last looked */
    struct cpu_task *task;
    bool known; /* it is in the list */
    struct cpu_visitor *next;
};

/** `light_barriers`: as gyre_barrier_register returned it. NULL without memory. */
struct cpu_relief *cpu_relief_create(struct cpu_pool *pool, int light_barriers);
/** Ends the relief's task. No worker is left, but a thread that was relieved may be on its way back. Accepts NULL. */
void cpu_relief_close(struct cpu_relief *relief);
/** Frees the relief, which was closed; no thread of the pool is left. Accepts NULL. */
void cpu_relief_destroy(struct cpu_relief *relief);

/** The thread that runs `task` goes away. False: there is no thread for the relief, so nobody may go away. */
bool cpu_relief_leave(struct cpu_relief *relief, struct cpu_visitor *visitor, struct cpu_task *task);
/** It is back. False: another thread runs the task, which may have ended: the caller touches nothing of it any more. */
bool cpu_relief_return(struct cpu_relief *relief, struct cpu_visitor *visitor);
/** Whether another thread has the task by now. */
bool cpu_relief_came(const struct cpu_visitor *visitor);
/** The thread stops running the task: the visitor leaves the list. */
void cpu_relief_forget(struct cpu_relief *relief, struct cpu_visitor *visitor);

#endif
