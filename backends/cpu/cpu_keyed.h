/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed actors: each block handles the requests whose keys it owns, and passes over the others'.
 *
 * All blocks read each ring in its order, each with a cursor of its own. A request belongs to the block that owns its key, so
 * blocks claim nothing and need no atomics, requests of a key are handled in the order of their ring, and it does not matter
 * which ring a sender chose.
 */
#ifndef GYRE_CPU_KEYED_H
#define GYRE_CPU_KEYED_H

#include "cpu_resident.h"

static inline bool cpu_is_keyed(const struct cpu_worker *worker)
{
    return worker->resident->kernel->form == GYRE_FORM_KEYED;
}

/** When the worker has to remind a key, at the earliest; UINT64_MAX: its keys have no reminders. */
static inline uint64_t cpu_keyed_due_ns(const struct cpu_worker *worker)
{
    return worker->resident->kernel->remind ? worker->context.next_due_ns : UINT64_MAX;
}

/** Whether it is time to look for keys to remind. */
static inline bool cpu_keyed_is_due(const struct cpu_worker *worker)
{
    const uint64_t due_ns = cpu_keyed_due_ns(worker);
    return due_ns != UINT64_MAX && gyre_clock_ns() >= due_ns;
}

/** Reminds keys that are due: some of them, when they are many. Whether it reminded any. */
bool cpu_keyed_remind(struct cpu_worker *worker);

/** Whether the worker's cursor can go on: to a request of its own if `own`, or past one of another block. */
bool cpu_keyed_can_go_on(const struct cpu_worker *worker, const struct cpu_queue *queue, bool *own);

/** Handles requests of a run of them, queue->run, and returns how many. */
typedef gyre_u64 (*cpu_keyed_runner)(struct cpu_worker *worker, const struct cpu_queue *queue,
                                     gyre_cpu_run *run);

/**
 * Handles the worker's requests, up to `most` or a little more, and moves queue->next past all that it handled or passed. Returns
 * how many it completed.
 */
gyre_u64 cpu_keyed_run(struct cpu_worker *worker, struct cpu_queue *queue, gyre_u64 most,
                       cpu_keyed_runner runner);

#endif
