/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies a message between a user's memory and a slot. The payload of a slot starts 16 bytes into a cache line.
 *
 * The copy goes line by line, because a vector that straddles two lines waits until both have come from the other core,
 * and the C library's memcpy picks such vectors for most sizes. The line with the slot's header comes last, because the
 * other side polls that line and would take it away between the store of the payload and the store of the sequence.
 */
#ifndef GYRE_CORE_RING_COPY_H
#define GYRE_CORE_RING_COPY_H

#include <string.h>

#include "gyre/ring_layout.h"

enum { GYRE_COPY_LINES_MAX = 1024 }; /* bytes; for longer copies an aligned memcpy is as fast */

/* Copies bytes [done, size) by moves of constant size, so that no function is called. `size` is at least 16. The last move
 * may repeat bytes of the move before it. */
static inline void gyre_copy_lines(unsigned char *to, const unsigned char *from, size_t done, size_t size)
{
    for (; size - done >= GYRE_LINE_SIZE; done += GYRE_LINE_SIZE)
        memcpy(to + done, from + done, GYRE_LINE_SIZE);
    for (; size - done >= 16; done += 16)
        memcpy(to + done, from + done, 16);
    if (done < size)
        memcpy(to + size - 16, from + size - 16, 16);
}

/** Copies `size` bytes. One of `to` and `from` is a slot's payload, the other any memory; they do not overlap. */
static inline void gyre_payload_copy(void *to, const void *from, size_t size)
{
    unsigned char *target = to;
    const unsigned char *source = from;
    if (size < GYRE_SLOT_SMALL_PAYLOAD) {
        if (size > 0) /* else either may be NULL */
            memcpy(target, source, size);
        return;
    }
    if (size <= GYRE_COPY_LINES_MAX)
        gyre_copy_lines(target, source, GYRE_SLOT_SMALL_PAYLOAD, size);
    else
        memcpy(target + GYRE_SLOT_SMALL_PAYLOAD, source + GYRE_SLOT_SMALL_PAYLOAD,
               size - GYRE_SLOT_SMALL_PAYLOAD);
    memcpy(target, source, GYRE_SLOT_SMALL_PAYLOAD);
}

#endif
