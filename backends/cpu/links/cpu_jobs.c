/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of pools (cpu_jobs.h). */
#include "backends/cpu/links/cpu_jobs.h"

#include <string.h>

#include "backends/device/device_jobs.h"
#include "backends/cpu/links/cpu_link_ring.h"

bool cpu_jobs_are_there(const gyre_link_ring *ring)
{
    return device_jobs_waiting(ring, 1) != 0;
}

bool cpu_jobs_are_own(const struct cpu_worker *worker, const gyre_link_ring *ring)
{
    for (uint32_t i = 0; i < worker->links.port_count; i++)
        if (worker->links.rings[i] == ring)
            return true;
    return false;
}

bool cpu_jobs_of_own_wait(const struct cpu_worker *worker, uint32_t level)
{
    for (uint32_t i = 0; i < worker->links.port_count; i++) {
        const gyre_link_ring *ring = worker->links.rings[i];
        if (ring && ring->pool & GYRE_POOL_OWN && ring->level >= level && cpu_jobs_are_there(ring))
            return true;
    }
    return false;
}

static void count(gyre_link_window *window, bool stolen)
{
    /* relaxed: statistics, written by this block alone */
    __atomic_store_n(&window->taken, window->taken + 1, __ATOMIC_RELAXED);
    if (stolen)
        __atomic_store_n(&window->stolen, window->stolen + 1, __ATOMIC_RELAXED);
}

bool cpu_job_take(struct cpu_worker *worker, gyre_link_ring *ring, gyre_link_window *window,
                  struct cpu_job *job)
{
    const bool own = cpu_jobs_are_own(worker, ring), newest = ring->pool & GYRE_POOL_NEWEST;
    job->in_ring = !(own && newest);
    if (!device_jobs_take(ring, own, 1, &job->index))
        return false;
    const gyre_link_slot *slot = slot_of(ring, job->index);
    job->origin = slot->origin;
    job->length = slot->length;
    job->request = slot + 1;
    if (!job->in_ring) {
        memcpy(worker->links.kept.bytes, slot + 1, slot->length);
        job->request = worker->links.kept.bytes;
    }
    count(window, !own && ring->pool & GYRE_POOL_OWN);
    return true;
}
