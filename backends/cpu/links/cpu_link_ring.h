/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the shared structs of links (gyre/link_layout.h), for the files of this backend that serve them. */
#ifndef GYRE_CPU_LINK_RING_H
#define GYRE_CPU_LINK_RING_H

#include "backends/cpu/cpu_resident.h"
#include "gyre/link_layout.h"

static inline void *at(gyre_u64 address)
{
    return (void *)(uintptr_t)address;
}

static inline gyre_link_slot *slot_of(const gyre_link_ring *ring, gyre_u64 index)
{
    return (gyre_link_slot *)(void *)((unsigned char *)at(ring->slots) +
                                      (index & (ring->capacity - 1)) * ring->stride);
}

/* Where the message of a slot lies: behind what it asks or answers, in a ring of such messages. */
static inline const unsigned char *payload_of(const gyre_link_ring *ring, const gyre_link_slot *slot)
{
    return (const unsigned char *)(slot + 1) + (ring->talk ? sizeof(gyre_link_ask) : 0);
}

/* Whether the message is there. The acquire pairs with the sender's release of the sequence. */
static inline bool is_filled(const gyre_link_ring *ring, gyre_u64 index)
{
    return __atomic_load_n(&slot_of(ring, index)->sequence, __ATOMIC_ACQUIRE) == (gyre_u32)(index + 1);
}

/* `capacity` is a power of two, and so is the size of a section. The compiler does not know that, and would divide. */
static inline uint32_t section_of(const gyre_link_ring *ring, gyre_u64 index)
{
    return (uint32_t)(index & (ring->capacity - 1)) >> __builtin_ctz(ring->capacity / GYRE_LINK_SECTIONS);
}

/** Whether blocks take their own messages out of the ring also while they have no room (cpu_stash.h): it is by key and of a cycle. */
static inline bool cpu_link_is_drained(const gyre_link_ring *ring)
{
    return ring->share != GYRE_LINK_SHARE_ANY && ring->run != 0;
}

static inline const gyre_link_inlet *inlets_of(const gyre_link_table *table)
{
    return (const gyre_link_inlet *)(const void *)(table + 1);
}

static inline gyre_link_window *window_of(const struct cpu_worker *worker, const gyre_link_inlet *inlet)
{
    return (gyre_link_window *)at(inlet->windows) + worker->block;
}

#endif
