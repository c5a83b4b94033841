/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes what a worker handles, while somebody traces the process (gyre/trace.h). A worker looks for that between batches: while nobody
 * traces, a message costs nothing.
 *
 * Takes no lock. Everything here belongs to the thread that runs the worker.
 */
#ifndef GYRE_CPU_TRACE_H
#define GYRE_CPU_TRACE_H

#include <stdbool.h>

#include "backends/cpu/cpu_resident.h"
#include "gyre/dialect/cpu_module.h"
#include "gyre/link_layout.h"

/** Looks whether the worker's messages are noted from here on. Each batch looks, also one of a single message: no call. */
static inline void cpu_trace_look(struct cpu_worker *worker)
{
    worker->traced.ring = gyre_trace_wanted(worker->resident->trace);
}

typedef gyre_u64 (*cpu_trace_runner)(struct cpu_worker *worker, gyre_cpu_run *run);
/** Does what the runner does, message by message, and notes each. Only while cpu_traced.ring is not NULL. */
gyre_u64 cpu_trace_run(struct cpu_worker *worker, const struct cpu_queue *queue, gyre_cpu_run *run,
                       cpu_trace_runner runner);

/** The next message lies in that place of a link's ring. Only while cpu_traced.ring is not NULL. */
void cpu_trace_arrival(struct cpu_worker *worker, const gyre_link_ring *ring, gyre_u64 place);
/**
 * The handler begins a message, of request `index` of the queue with that region; NULL: of no request. `header`: the request's, or NULL.
 * `links`: how many the message came by.
 */
void cpu_trace_begin(struct cpu_worker *worker, const void *region, gyre_u64 index,
                     const unsigned char *header, gyre_u32 header_size, gyre_u32 links);
/** The handler is done with it. */
void cpu_trace_end(struct cpu_worker *worker, bool failed);
/** The message that is handled sends `count` others, from place `first` on, to a ring of the link whose first ring is at `link`. Called
 * before they are published: so the event has a smaller stamp than those of whoever gets them. */
void cpu_trace_emitted(const struct cpu_worker *worker, gyre_u64 link, const gyre_link_ring *ring,
                       gyre_u64 first, gyre_u32 count);

#endif
