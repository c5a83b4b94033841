/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel's view of one of its queues. The kernel makes, lists and withdraws queues, and writes all of this under its
 * own locks (core/kernel/kernel.h); the queue reads `gate` alone.
 */
#ifndef GYRE_CORE_QUEUE_VIEW_H
#define GYRE_CORE_QUEUE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/gyre.h"

struct gyre_queue_view {
    struct gyre_kernel *kernel;
    struct gyre_kernel_types *types; /* the kernel's, maybe another program's; NULL: nobody asked for them */
    struct gyre_kernel_types *own_types; /* `types`, when they are this queue's alone; else NULL */
    gyre_queue *next;                    /* the kernel's next queue */
    void *device_memory;
    struct gyre_buffer *span_memory; /* NULL: no spans in memory of the device */
    uint64_t device_address;         /* the region's address, for a device in this process */
    struct gyre_durable *durable;    /* NULL: it has no journal */
    uint32_t table_entry;
    uint64_t
        table_first; /* the first index for a device that sees the queue first, as its entry of the table says */
    bool of_shards; /* a ring of open shards, which alone close it; constant once they are open */
    bool withdrawn; /* it is being closed: no device gets to see it any more */
    uint32_t
        suspect_crashes;    /* deaths of the device in a row with `suspect` as the first unanswered request */
    uint32_t alone_crashes; /* such deaths with no other request in the device's sight */
    uint64_t suspect;
    uint64_t watched, watched_ns; /* the first unanswered request, and since when it is the same one */
    uint64_t gate; /* the device does not see requests from this index on; UINT64_MAX: it sees all, 0: none */
};

#endif
