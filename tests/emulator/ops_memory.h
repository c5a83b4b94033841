/* SPDX-License-Identifier: Apache-2.0 */
/* From an address of a kernel to the memory that it means, checked. Private to the files ops_*.c. */
#ifndef GYRE_TESTS_EMULATOR_OPS_MEMORY_H
#define GYRE_TESTS_EMULATOR_OPS_MEMORY_H

#include "ops.h"

/** Where an access goes. */
struct where {
    void *at;    /* NULL after a fault */
    bool global; /* not the block's or the thread's own */
};

/** The memory at an address of one of the spaces; a fault when it is none, or misaligned. */
struct where memory_at(struct warp *warp, const struct instruction *i, uint32_t lane, uint64_t address,
                       uint32_t size, enum space space);

static inline uint64_t address_of(const struct warp *warp, const struct instruction *i, const uint64_t *lanes,
                                  uint32_t lane)
{
    return (lanes[lane] & i->address_mask) + (uint64_t)i->offset + (i->access.frame ? warp->frame : 0);
}

static inline bool covers(const struct range *range, uint64_t address, uint64_t size)
{
    return address >= range->from && address < range->end && range->end - address >= size;
}

static inline bool in_range(const struct range *range, uint64_t address, uint64_t size)
{
    return covers(range, address, size) &&
           range->version == atomic_load_explicit(&machine_memory_version, memory_order_relaxed);
}

static inline uint64_t load_element(const void *at, uint32_t size)
{
    switch (size) {
    case 1:
        return __atomic_load_n((const uint8_t *)at, __ATOMIC_RELAXED);
    case 2:
        return __atomic_load_n((const uint16_t *)at, __ATOMIC_RELAXED);
    case 4:
        return __atomic_load_n((const uint32_t *)at, __ATOMIC_RELAXED);
    default:
        return __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED);
    }
}

#endif
