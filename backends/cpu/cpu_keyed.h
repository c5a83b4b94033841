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
