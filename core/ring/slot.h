/* SPDX-License-Identifier: Apache-2.0 */
/* The size of a slot, and the memory that a queue takes. */
#ifndef GYRE_CORE_RING_SLOT_H
#define GYRE_CORE_RING_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/ring_layout.h"

enum { GYRE_SLOT_PACKED_MAX = 1024 };

/**
 * Bytes from slot to slot for messages of at most `payload` bytes. Small slots are a line. Larger ones are packed as
 * far as headers and payloads stay aligned to 16 bytes: a message costs as many lines as it touches. Beyond
 * GYRE_SLOT_PACKED_MAX that is little, and slots that begin with a line are simpler to copy.
 */
static inline uint32_t gyre_slot_stride(uint32_t payload)
{
    const bool small = payload <= GYRE_SLOT_SMALL_PAYLOAD;
    const uint32_t unit = !small && payload <= GYRE_SLOT_PACKED_MAX ? 16 : GYRE_LINE_SIZE;
    const uint32_t room = small ? GYRE_SLOT_SMALL_PAYLOAD : payload;
    return (room + GYRE_SLOT_HEADER_SIZE + unit - 1) / unit * unit;
}

/** As gyre_lines_size of memory, of places in a region: it fits there, which was seen to before. */
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
