/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of pools (cpu_jobs.h). tests/models/link_pool.pml has the protocol of `ends`. */
#include "cpu_jobs.h"

#include <string.h>

#include "cpu_link_ring.h"

enum { UPPER = 32 }; /* the bit at which the upper half of `ends` begins */

static gyre_u32 oldest_of(gyre_u64 ends)
{
    return (gyre_u32)ends;
}

static gyre_u32 end_of(gyre_u64 ends)
{
    return (gyre_u32)(ends >> UPPER);
}

/* `ends`, when thieves took one message more. The lower half wraps by itself: nothing is carried into the upper one. */
static gyre_u64 without_oldest(gyre_u64 ends)
{
    return (ends & ~(gyre_u64)UINT32_MAX) | (gyre_u32)(oldest_of(ends) + 1);
}

static gyre_u64 without_newest(gyre_u64 ends)
{
    return ends - ((gyre_u64)1 << UPPER);
}

bool cpu_jobs_are_there(const gyre_link_ring *ring)
{
    if (!(ring->pool & GYRE_POOL_NEWEST))
        return is_filled(ring, __atomic_load_n(&ring->claimed, __ATOMIC_RELAXED));
    const gyre_u64 ends = __atomic_load_n(&ring->ends, __ATOMIC_RELAXED);
    return oldest_of(ends) != end_of(ends);
}

bool cpu_jobs_are_own(const struct cpu_worker *worker, const gyre_link_ring *ring)
{
    for (uint32_t i = 0; i < worker->links.port_count; i++)
        if (worker->links.rings[i] == ring)
            return true;
    return false;
}

bool cpu_jobs_of_own_wait(const struct cpu_worker *worker)
{
    for (uint32_t i = 0; i < worker->links.port_count; i++) {
        const gyre_link_ring *ring = worker->links.rings[i];
        if (ring && ring->pool & GYRE_POOL_OWN && cpu_jobs_are_there(ring))
            return true;
    }
    return false;
}

/* Pairs with cpu_jobs_publish: whoever takes the message sees it whole, although others changed `ends` in between. */
static bool change_ends(gyre_link_ring *ring, gyre_u64 *ends, gyre_u64 next)
{
    return __atomic_compare_exchange_n(&ring->ends, ends, next, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Takes the newest message out of the worker's own ring. Its index will be that of the next message. */
static bool take_newest(gyre_link_ring *ring, gyre_u64 *index)
{
    gyre_u64 ends = __atomic_load_n(&ring->ends, __ATOMIC_RELAXED);
    do {
        if (oldest_of(ends) == end_of(ends))
            return false;
    } while (!change_ends(ring, &ends, without_newest(ends)));
    *index = ring->head - 1;
    __atomic_store_n(&ring->head, *index, __ATOMIC_RELAXED); /* relaxed: others read it for statistics */
    return true;
}

static bool steal_oldest(gyre_link_ring *ring, gyre_u64 *index)
{
    gyre_u64 ends = __atomic_load_n(&ring->ends, __ATOMIC_RELAXED);
    do {
        if (oldest_of(ends) == end_of(ends))
            return false;
    } while (!change_ends(ring, &ends, without_oldest(ends)));
    *index = oldest_of(ends);
    return true;
}

/* Of a ring whose messages leave in their order. */
static bool claim_first(gyre_link_ring *ring, gyre_u64 *index)
{
    *index = __atomic_load_n(&ring->claimed, __ATOMIC_RELAXED);
    while (is_filled(ring, *index))
        if (__atomic_compare_exchange_n(&ring->claimed, index, *index + 1, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            return true;
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
    if (!(!newest ? claim_first : own ? take_newest : steal_oldest)(ring, &job->index))
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

void cpu_jobs_publish(gyre_link_ring *ring, uint32_t emitted)
{
    if (ring->pool & GYRE_POOL_NEWEST) /* pairs with change_ends; the upper half wraps by itself */
        __atomic_fetch_add(&ring->ends, (gyre_u64)emitted << UPPER, __ATOMIC_RELEASE);
}
