/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long handlers of stages ran (gyre_control_times, kind LINKS): the stamps of a pipeline's queue tell of whole flows, and
 * messages of links have none. Every so many-th message of a worker is timed; others cost a test. Takes no lock.
 */
#ifndef GYRE_CPU_TIMES_H
#define GYRE_CPU_TIMES_H

#include "backends/cpu/cpu_resident.h"
#include "gyre/observe.h"
#include "gyre/waiting.h"

/** Call for each worker, before it starts. */
static inline void cpu_times_prepare(struct cpu_worker *worker)
{
    gyre_control_region *control = worker->resident->control;
    gyre_control_times *times = GYRE_CONTROL_TIMES(control, worker->resident->block_count);
    if (!control->absences.timed || !control->absences.has_times)
        return;
    worker->timed = (struct cpu_timed){.times = times, .mask = control->absences.timed - 1};
    __atomic_store_n(&times->counts, GYRE_TIMES_LINKS, __ATOMIC_RELEASE); /* pairs with the core's acquire */
}

/** Before a handler is called. Returns when that was; 0: the message is not timed. */
static inline gyre_u64 cpu_times_begin(struct cpu_worker *worker)
{
    if (__builtin_expect(worker->timed.times == NULL, 1) || (worker->timed.turn++ & worker->timed.mask))
        return 0;
    return gyre_clock_ns();
}

/** When it has returned. Workers share the counts. */
static inline void cpu_times_end(const struct cpu_worker *worker, gyre_u64 started_ns)
{
    if (__builtin_expect(started_ns == 0, 1))
        return;
    gyre_control_times *times = worker->timed.times;
    const gyre_u64 ns = gyre_clock_ns() - started_ns;
    __atomic_fetch_add(&times->sum_ns, ns, __ATOMIC_RELAXED);
    __atomic_fetch_add(&times->buckets[gyre_observe_bucket(ns)], 1, __ATOMIC_RELAXED);
}

#endif
