/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a log of the transport block by block. A transport may have to ask a server for each block: a log that is read to its end is only
 * read again once the transport says that there may be more, or now and then, because that word may be lost. One thread at a time.
 */
#ifndef GYRE_CORE_CLUSTER_READING_H
#define GYRE_CORE_CLUSTER_READING_H

#include <stdbool.h>

#include "core/transport/transport.h"

struct gyre_reading {
    uint64_t read_ns; /* when the transport was last read without asking, */
    uint64_t
        next_ns; /* and how long it may be before it is read so again: longer each time that nothing was there */
    uint32_t logs; /* how many logs are read like this one; the owner's, 0: few */
};

/** How long to wait for a block of a log that had none for a while, so that many silent logs cost little. */
uint64_t gyre_reading_nap_ns(const struct gyre_reading *reading);
/** Whether the transport has a block behind `after` at hand. Does not wait. False says nothing. */
bool gyre_reading_has_next(struct gyre_transport *transport, const char *log, uint64_t after);
/** As gyre_transport_read, and AGAIN also when no block is at hand and the log was read a short time ago. */
gyre_status gyre_reading_next(struct gyre_reading *reading, struct gyre_transport *transport, const char *log,
                              uint64_t after, void *bytes, size_t *byte_count, uint64_t *number);

#endif
