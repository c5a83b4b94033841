/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the shared structs of links (gyre/link_layout.h), for the files that serve them. Private to this folder. */
#ifndef GYRE_OPENCL_LINK_RING_H
#define GYRE_OPENCL_LINK_RING_H

#include "backends/opencl/epochs/opencl_linked.h"

static inline void *link_at(gyre_u64 address)
{
    return (void *)(uintptr_t)address;
}

static inline gyre_link_slot *link_slot(const gyre_link_ring *ring, gyre_u64 index)
{
    return (gyre_link_slot *)(void *)((unsigned char *)link_at(ring->slots) +
                                      (index & (ring->capacity - 1)) * ring->stride);
}

/** Where the message of a slot lies: behind what it asks or answers, in a ring of such messages. */
static inline const unsigned char *link_payload(const gyre_link_ring *ring, const gyre_link_slot *slot)
{
    return (const unsigned char *)(slot + 1) + (ring->talk ? sizeof(gyre_link_ask) : 0);
}

/** Whether the message is there. The acquire pairs with the sender's release of the sequence. */
static inline bool link_is_filled(const gyre_link_ring *ring, gyre_u64 index)
{
    return __atomic_load_n(&link_slot(ring, index)->sequence, __ATOMIC_ACQUIRE) == (gyre_u32)(index + 1);
}

static inline uint32_t link_section(const gyre_link_ring *ring, gyre_u64 index)
{
    return (uint32_t)((index & (ring->capacity - 1)) / (ring->capacity / GYRE_LINK_SECTIONS));
}

static inline const gyre_link_inlet *link_inlets(const gyre_link_table *table)
{
    return (const gyre_link_inlet *)(const void *)(table + 1);
}

/** The queue's region of an entry, which may be a queue of another backend (GYRE_LINKING_SHARED). */
static inline gyre_queue_region *link_region(const gyre_link_entry *entry)
{
    return link_at(entry->region);
}

/** The cell of message i's request, in the memory that the host fills. */
static inline unsigned char *link_request_cell(const gyre_resident *resident, uint32_t i)
{
    return resident->epochs[0].in.host + (size_t)i * resident->links->request_cell;
}

/** The cell of message i's reply and of what it emitted. */
static inline unsigned char *link_reply_cell(const gyre_resident *resident, uint32_t i)
{
    return resident->epochs[0].out.host + (size_t)i * resident->links->reply_cell;
}

#endif
