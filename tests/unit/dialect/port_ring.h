/* SPDX-License-Identifier: Apache-2.0 */
/* A ring that a port leads to, as a backend makes it, for tests that call a compiled handler themselves. */
#ifndef GYRE_UNIT_PORT_RING_H
#define GYRE_UNIT_PORT_RING_H

#include <check.h>
#include <stdint.h>
#include <string.h>

#include "gyre/dialect/cpu_module.h"

enum { RING_SLOTS = 16, RING_STRIDE = 256, RING_FILL = 0xa5 };

struct port_ring {
    _Alignas(64) unsigned char bytes[RING_SLOTS * RING_STRIDE];
};

/* Fills the ring, and prepares the port of a call whose first place is that of index `next`. */
static inline gyre_cpu_port port_ring_open(struct port_ring *ring, uint64_t next, uint32_t most)
{
    memset(ring->bytes, RING_FILL, sizeof ring->bytes);
    return (gyre_cpu_port){
        .slots = ring->bytes, .next = next, .mask = RING_SLOTS - 1, .stride = RING_STRIDE, .most = most};
}

/* The payload at an index. */
static inline void *port_ring_at(struct port_ring *ring, uint64_t index)
{
    return ring->bytes + index % RING_SLOTS * RING_STRIDE + GYRE_SLOT_HEADER_SIZE;
}

/* Fails unless these bytes still hold what the ring was filled with. */
static inline void expect_untouched(const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ck_assert_uint_eq(((const unsigned char *)bytes)[i], RING_FILL);
}

/* Fails unless nothing but the payloads of `count` messages from `next` on, of `size` bytes, was written. */
static inline void expect_payloads_alone(struct port_ring *ring, uint64_t next, uint64_t count, size_t size)
{
    for (uint64_t i = 0; i < RING_SLOTS; i++) {
        unsigned char *const payload = port_ring_at(ring, next + i);
        const size_t written = i < count ? size : 0;
        expect_untouched(payload - GYRE_SLOT_HEADER_SIZE, GYRE_SLOT_HEADER_SIZE);
        expect_untouched(payload + written, RING_STRIDE - GYRE_SLOT_HEADER_SIZE - written);
    }
}

#endif
