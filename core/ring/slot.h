/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the size of a slot, and names the parts of a queue's memory. The layout of the whole region is in layout.h. */
#ifndef GYRE_CORE_RING_SLOT_H
#define GYRE_CORE_RING_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/ring_layout.h"

enum { GYRE_SLOT_PACKED_MAX = 1024 };

/**
 * Bytes from slot to slot for messages of at most `payload` bytes. A small slot is one cache line. Larger slots are packed
 * to multiples of 16 bytes, because a message costs as many lines as it touches. Beyond GYRE_SLOT_PACKED_MAX packing saves
 * little, and each slot begins with a line, because such slots are simpler to copy.
 */
static inline uint32_t gyre_slot_stride(uint32_t payload)
{
    const bool small = payload <= GYRE_SLOT_SMALL_PAYLOAD;
    const uint32_t unit = !small && payload <= GYRE_SLOT_PACKED_MAX ? 16 : GYRE_LINE_SIZE;
    const uint32_t room = small ? GYRE_SLOT_SMALL_PAYLOAD : payload;
    return (room + GYRE_SLOT_HEADER_SIZE + unit - 1) / unit * unit;
}

/** Rounds a size in a region up to whole cache lines. Unlike gyre_lines_size it checks no overflow: the sizes of a region
 * were checked before. */
static inline uint64_t gyre_whole_lines(uint64_t size)
{
    return (size + GYRE_LINE_SIZE - 1) / GYRE_LINE_SIZE * GYRE_LINE_SIZE;
}

/** The memory that a queue takes, in bytes. */
struct gyre_queue_cost {
    uint64_t capacity;
    uint32_t request_size, reply_size;     /* sizes of the largest messages */
    uint32_t request_stride, reply_stride; /* from slot to slot */
    uint64_t slots, headers;               /* slots of both directions; headers of requests */
    uint64_t bridged;                      /* rings of bytes; 0: every message lies in its slot */
    uint64_t spans;                        /* memory of the device for large spans */
    uint64_t memory;                       /* all of these, and the rest of the region */
};

#endif
