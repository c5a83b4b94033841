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

#include "backends/cpu/cpu_resident.h"
#include "gyre/keyed_layout.h"

static inline bool cpu_is_keyed(const struct cpu_worker *worker)
{
    return worker->resident->kernel->form == GYRE_FORM_KEYED;
}

/** Whether reminders go by the host's ticks, not by the clock. */
static inline bool cpu_keyed_has_ticks(const struct cpu_worker *worker)
{
    return worker->resident->kernel->remind && worker->resident->control->command.by_ticks;
}

/** Until when a worker with nothing to do may sleep, as far as reminders are concerned; UINT64_MAX: without end. */
static inline uint64_t cpu_keyed_sleeps_until(const struct cpu_worker *worker)
{
    const int64_t due_ns = worker->context.next_due_ns;
    if (!worker->resident->kernel->remind || cpu_keyed_has_ticks(worker) || due_ns == GYRE_KEYED_NO_DUE)
        return UINT64_MAX;
    return due_ns < 0 ? 0 : (uint64_t)due_ns;
}

/** As cpu_keyed_is_due, of a kernel that has a GYRE_REMINDED. */
bool cpu_keyed_has_due(const struct cpu_worker *worker);

/** Whether there may be keys to remind. Every look of a worker asks this, so other kernels pay one test and no call. */
static inline bool cpu_keyed_is_due(const struct cpu_worker *worker)
{
    return __builtin_expect(worker->reminds, 0) && cpu_keyed_has_due(worker);
}

/** Reminds keys of a kernel that has a GYRE_REMINDED and that are due: some of them, when they are many. Whether it reminded any. */
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
