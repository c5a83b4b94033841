/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps what a kernel knows about one of its queues. The kernel makes, lists and withdraws queues, and writes these members
 * under its own locks (core/kernel/kernel.h). The queue itself reads only `gate`.
 */
#ifndef GYRE_CORE_QUEUE_VIEW_H
#define GYRE_CORE_QUEUE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/gyre.h"

/** A count that should stand still, as looks found it: when a look first and last found that it had grown. */
struct gyre_queue_growing {
    uint64_t count, first_ns, last_ns;
};

/** What the last look for the observation file found (core/kernel/observed.c). */
struct gyre_queue_seen {
    bool looked; /* there was such a look, at looked_ns */
    uint64_t looked_ns, first_unanswered;
    uint64_t full_ns,
        still_ns; /* since when the ring is full, and the same request the first; 0: it is not so */
    struct gyre_queue_growing refused, lost;
    uint64_t told_refused,
        told_discarded; /* of a lent queue: what its client said, as far as that is believed */
    uint64_t durable,
        unsaved_ns; /* of its journal, at the last look; since when it is behind and stands, 0: it is not so */
    uint64_t most;  /* places that were taken at a look, at most: a lent queue has no other high water */
    bool counts_soon; /* its blocks were asked to count each message */
};

struct gyre_queue_view {
    struct gyre_kernel *kernel;
    struct gyre_kernel_types *types;     /* types of the kernel's messages; NULL: nobody asked for them yet */
    struct gyre_kernel_types *own_types; /* `types`, if this queue owns them alone; else NULL */
    const gyre_type *request,
        *reply;                   /* of its messages: the kernel's, or those of the pipeline that it enters */
    gyre_queue *next;             /* the kernel's next queue */
    struct gyre_dispatch *device; /* whose `device_memory` is */
    void *device_memory;
    struct gyre_buffer *span_memory; /* device memory for large spans of requests; NULL: none */
    uint64_t device_address;         /* the region's address, for a device in this process */
    struct gyre_durable *durable;    /* the queue's journal; NULL: it has none */
    uint32_t table_entry;
    uint64_t
        let_go; /* of a queue left to a handler: once all blocks obeyed this command, no handler uses the queue; 0: who knows */
    uint64_t
        table_first; /* where a device that meets the queue begins, as the queue's entry in the table of queues says */
    uint64_t table_serial; /* as that entry says it */
    uint32_t entry_number; /* of one that enters a pipeline: by which number its flows know it */
    bool of_pipeline;      /* enters a pipeline, which alone may close it; constant once it is open */
    bool unfindable;       /* enters a pipeline whose blocks do not all know it yet */
    bool is_reserve;       /* enters a pipeline, which alone sends by it */
    bool
        repeats; /* enters a pipeline: its device sees of it only what a queue of the pipeline's repeats (core/durability/lead.h) */
    bool repeats_one;         /* of which one request alone is not completed yet: */
    uint64_t repeated;        /* by this index of that queue */
    uint32_t repeated_number; /* whose number as an entry is this */
    /* of one that enters a pipeline with checkpoints: by which queue its requests are handled again, and the next such queue */
    gyre_queue *repeater, *led_next;
    bool of_shards; /* part of open shards, which alone may close it; constant once the shards are open */
    bool withdrawn; /* the queue is being closed: no device gets to see it any more */
    uint32_t
        suspect_crashes;    /* deaths of the device in a row with `suspect` as the first unanswered request */
    uint32_t alone_crashes; /* how many of these deaths came while the device saw no other request */
    uint64_t suspect;
    uint64_t watched, watched_ns; /* the first unanswered request, and since when it is the first */
    uint32_t observed;            /* the queue's record in the observation file; 0: it has none */
    struct gyre_queue_seen seen;
    uint64_t gate; /* the device does not see requests from here on; UINT64_MAX: it sees all */
    bool closed;   /* the device does not see the queue itself; `gate` is 0 then */
};

#endif
