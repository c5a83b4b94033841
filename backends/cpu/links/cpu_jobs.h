/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of pools, which any block of several kernels takes: one at a time, so that a long one holds no other up. A block whose
 * kernel is a member takes what it emitted itself first, and steals from the rings of others only when it has none of its own.
 * With GYRE_POOL_NEWEST it takes its own newest message, and a copy of it, so that the place is free for what the handler emits.
 *
 * Takes no lock. ../device/device_jobs.c has the protocol of the rings.
 */
#ifndef GYRE_CPU_JOBS_H
#define GYRE_CPU_JOBS_H

#include "backends/cpu/cpu_resident.h"
#include "gyre/link_layout.h"

/** A message that a worker took. */
struct cpu_job {
    gyre_u64 index, origin;
    const void *request;
    gyre_u32 length;
    bool in_ring; /* it lies in its place, which is given back when it was handled */
};

/** Whether the ring, of a pool, has a message that nobody took. */
bool cpu_jobs_are_there(const gyre_link_ring *ring);
/** Whether the worker emits into the ring. */
bool cpu_jobs_are_own(const struct cpu_worker *worker, const gyre_link_ring *ring);
/** Whether a ring that the worker emits into, and takes from, has a message, of those with this level at least. */
bool cpu_jobs_of_own_wait(const struct cpu_worker *worker, uint32_t level);
/** Takes a message of the ring. False: there is none. There is room for all that its handler may emit, before and after. */
bool cpu_job_take(struct cpu_worker *worker, gyre_link_ring *ring, gyre_link_window *window,
                  struct cpu_job *job);

#endif
