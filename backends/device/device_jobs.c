/* SPDX-License-Identifier: Apache-2.0 */
/* The rings of pools (device_jobs.h). */
#include "backends/device/device_jobs.h"

enum { UPPER = 32 }; /* the bit at which the upper half of `ends` begins */

static gyre_u32 oldest_of(gyre_u64 ends)
{
    return (gyre_u32)ends;
}

static gyre_u32 end_of(gyre_u64 ends)
{
    return (gyre_u32)(ends >> UPPER);
}

static uint32_t least(uint32_t one, uint32_t other)
{
    return one < other ? one : other;
}

/* `ends`, when thieves took so many messages more. The lower half wraps by itself: nothing is carried into the upper one. */
static gyre_u64 without_oldest(gyre_u64 ends, uint32_t count)
{
    return (ends & ~(gyre_u64)UINT32_MAX) | (gyre_u32)(oldest_of(ends) + count);
}

static gyre_u64 without_newest(gyre_u64 ends, uint32_t count)
{
    return ends - ((gyre_u64)count << UPPER);
}

/* Whether the message is there. The acquire pairs with the sender's release of the sequence. */
static bool is_filled(const gyre_link_ring *ring, gyre_u64 index)
{
    const unsigned char *slots = (const unsigned char *)(uintptr_t)ring->slots;
    const gyre_link_slot *slot =
        (const gyre_link_slot *)(const void *)(slots + (index & (ring->capacity - 1)) * ring->stride);
    return __atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE) == (gyre_u32)(index + 1);
}

/* How many messages from `first` on are there; `most` at most. */
static uint32_t count_filled(const gyre_link_ring *ring, gyre_u64 first, uint32_t most)
{
    uint32_t count = 0;
    while (count < most && is_filled(ring, first + count))
        count++;
    return count;
}

uint32_t device_jobs_waiting(const gyre_link_ring *ring, uint32_t most)
{
    if (!(ring->pool & GYRE_POOL_NEWEST))
        return count_filled(ring, __atomic_load_n(&ring->claimed, __ATOMIC_RELAXED), most);
    const gyre_u64 ends = __atomic_load_n(&ring->ends, __ATOMIC_RELAXED);
    return least(end_of(ends) - oldest_of(ends), most);
}

/* Pairs with device_jobs_publish: whoever takes the messages sees them whole, although others changed `ends` in between. */
static bool change_ends(gyre_link_ring *ring, gyre_u64 *ends, gyre_u64 next)
{
    return __atomic_compare_exchange_n(&ring->ends, ends, next, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Takes the newest messages out of the caller's own ring. Their indices will be those of the next messages. */
static uint32_t take_newest(gyre_link_ring *ring, uint32_t most, gyre_u64 *first)
{
    gyre_u64 ends = __atomic_load_n(&ring->ends, __ATOMIC_RELAXED);
    uint32_t count;
    do {
        count = least(end_of(ends) - oldest_of(ends), most);
        if (count == 0)
            return 0;
    } while (!change_ends(ring, &ends, without_newest(ends, count)));
    *first = ring->head - count;
    __atomic_store_n(&ring->head, *first, __ATOMIC_RELAXED); /* relaxed: others read it for statistics */
    return count;
}

static uint32_t steal_oldest(gyre_link_ring *ring, uint32_t most, gyre_u64 *first)
{
    gyre_u64 ends = __atomic_load_n(&ring->ends, __ATOMIC_RELAXED);
    uint32_t count;
    do {
        count = least(end_of(ends) - oldest_of(ends), most);
        if (count == 0)
            return 0;
    } while (!change_ends(ring, &ends, without_oldest(ends, count)));
    *first = oldest_of(ends);
    return count;
}

/* Of a ring whose messages leave in their order. */
static uint32_t claim_first(gyre_link_ring *ring, uint32_t most, gyre_u64 *first)
{
    *first = __atomic_load_n(&ring->claimed, __ATOMIC_RELAXED);
    for (uint32_t count = count_filled(ring, *first, most); count; count = count_filled(ring, *first, most))
        if (__atomic_compare_exchange_n(&ring->claimed, first, *first + count, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            return count;
    return 0;
}

uint32_t device_jobs_take(gyre_link_ring *ring, bool own, uint32_t most, gyre_u64 *first)
{
    if (!(ring->pool & GYRE_POOL_NEWEST))
        return claim_first(ring, most, first);
    return own ? take_newest(ring, most, first) : steal_oldest(ring, most, first);
}

void device_jobs_publish(gyre_link_ring *ring, uint32_t emitted)
{
    if (ring->pool & GYRE_POOL_NEWEST) /* pairs with change_ends; the upper half wraps by itself */
        __atomic_fetch_add(&ring->ends, (gyre_u64)emitted << UPPER, __ATOMIC_RELEASE);
}
