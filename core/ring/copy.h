/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between a user's message and a slot, whose payload starts 16 bytes into a line.
 *
 * Line by line: a vector that straddles two lines waits for both of them to come from the other core, and the
 * C library's memcpy picks such vectors for most sizes. The header's line last: the other side polls it, and
 * would take it away between the payload's store and the sequence's.
 */
#ifndef GYRE_CORE_RING_COPY_H
#define GYRE_CORE_RING_COPY_H

#include <string.h>

#include "gyre/ring_layout.h"

enum { GYRE_COPY_LINES_MAX = 1024 }; /* bytes; beyond, memcpy's own loop is as good once it is aligned */

/* Constant sizes: moves, no call. `size` is at least 16; the last move may repeat bytes of the one before. */
static inline void gyre_copy_lines(unsigned char *to, const unsigned char *from, size_t done, size_t size)
{
    for (; size - done >= GYRE_LINE_SIZE; done += GYRE_LINE_SIZE)
        memcpy(to + done, from + done, GYRE_LINE_SIZE);
    for (; size - done >= 16; done += 16)
        memcpy(to + done, from + done, 16);
    if (done < size)
        memcpy(to + size - 16, from + size - 16, 16);
}

/** `to` or `from` is a slot's payload, the other one anything; they do not overlap. */
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
