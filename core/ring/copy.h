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

/** `to` or `from` is a slot's payload, the other one anything; they do not overlap. */
static inline void gyre_payload_copy(void *to, const void *from, size_t size)
{
    unsigned char *target = to;
    const unsigned char *source = from;
    if (size < GYRE_SLOT_SMALL_PAYLOAD) {
        memcpy(target, source, size);
        return;
    }
    size_t done = GYRE_SLOT_SMALL_PAYLOAD;
    if (size <= GYRE_COPY_LINES_MAX)
        for (; size - done >= GYRE_LINE_SIZE; done += GYRE_LINE_SIZE)
            memcpy(target + done, source + done, GYRE_LINE_SIZE);
    if (done < size)
        memcpy(target + done, source + done, size - done);
    memcpy(target, source, GYRE_SLOT_SMALL_PAYLOAD); /* constant sizes: a few moves, no call */
}

#endif
