/* SPDX-License-Identifier: Apache-2.0 */
/* How large the rings of links are. No state. */
#ifndef GYRE_CORE_LINKS_LINK_SIZES_H
#define GYRE_CORE_LINKS_LINK_SIZES_H

#include "core/dispatch/dispatch.h"
#include "gyre/link_layout.h"

enum {
    GYRE_LINK_CAPACITY_MOST = 1 << 24,
    /* of a ring whose capacity Gyre chooses: at most so much; a device may ask for another number of slots (device_info) */
    GYRE_LINK_SLOTS = 1024,
    GYRE_LINK_BYTES = 1 << 20
};

static inline uint64_t gyre_whole_lines(uint64_t bytes)
{
    return (bytes + GYRE_LINE_SIZE - 1) / GYRE_LINE_SIZE * GYRE_LINE_SIZE;
}

/** Bytes of the slots of a ring. A line of padding keeps rings of a size that is a power of two from sharing cache sets. */
static inline uint64_t gyre_link_slots_size(uint64_t capacity, uint32_t stride)
{
    return gyre_whole_lines(capacity * stride) + GYRE_LINE_SIZE;
}

/**
 * The least capacity with which a sender gets room for `most` messages in the end: room comes back in whole sections, so one
 * section may be used in part for ever.
 */
static inline uint64_t gyre_link_capacity_least(uint32_t most)
{
    uint64_t capacity = GYRE_LINK_SECTIONS;
    while (capacity - capacity / GYRE_LINK_SECTIONS < most)
        capacity *= 2;
    return capacity;
}

/** The capacity that Gyre chooses. */
static inline uint64_t gyre_link_capacity_usual(struct gyre_dispatch *device, uint64_t least, uint32_t stride)
{
    const uint64_t asked = gyre_dispatch_device_info(device)->link_slots;
    uint64_t capacity = least;
    while (capacity < (asked ? asked : GYRE_LINK_SLOTS) && capacity * 2 * stride <= GYRE_LINK_BYTES)
        capacity *= 2;
    return capacity;
}

/** From slot to slot. A slot that fits a line lies in one: a device may write such a slot whole, by one instruction. */
static inline uint32_t gyre_link_stride(uint64_t size)
{
    enum { HALF_LINE = GYRE_LINE_SIZE / 2 };
    const uint64_t bytes = (GYRE_SLOT_HEADER_SIZE + size + 15) / 16 * 16;
    return (uint32_t)(bytes <= 16              ? 16
                      : bytes <= HALF_LINE     ? HALF_LINE
                      : bytes < GYRE_LINE_SIZE ? GYRE_LINE_SIZE
                                               : bytes);
}

#endif
