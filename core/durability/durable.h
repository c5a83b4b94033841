/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues with a journal. Messages of an earlier run of the program are put into the queue before it is served, and a
 * thread of the queue writes requests that were sent, and replies that were received.
 *
 * Lock: durable->lock for every use of the journal. It is taken inside `taking` of a kernel's checkpoints.
 */
#ifndef GYRE_CORE_DURABILITY_DURABLE_H
#define GYRE_CORE_DURABILITY_DURABLE_H

#include "core/device/runtime.h"
#include "core/journal/file.h"
#include "core/journal/journal.h"
#include "core/kernel/keeper.h"
#include "core/state/store.h"

enum gyre_durable_sync { GYRE_SYNC_NEVER = 0, GYRE_SYNC_GROUP = 1, GYRE_SYNC_INTERVAL = 2 };

/* Of the journal of an entry of a pipeline (together.h). */
struct gyre_durable_together {
    struct gyre_kept_stages stages;
    char pipeline[GYRE_NAME_MAX]; /* for sentences */
    struct gyre_record_open open; /* the pipeline as it is */
    struct gyre_store store;      /* what was gathered; without bytes when no stage has a part */
};

struct gyre_durable {
    gyre_kernel *kernel;                    /* of an entry: the stage that leads */
    struct gyre_durable_together *together; /* of an entry of a pipeline (together.h); else NULL */
    gyre_queue *queue;                      /* NULL until the queue is made */
    struct gyre_journal_file file;
    struct gyre_journal journal;
    struct gyre_journal_type types[GYRE_JOURNAL_TYPES_MAX]; /* the kernel's present types */
    size_t type_count;
    const gyre_kernel_record *described,
        *begun;          /* of the kernel: what `types` are, and what the file began with */
    unsigned char *data; /* the file of an earlier run, until the queue goes on from it */
    struct gyre_journal_content content;
    gyre_recovered recovered;
    enum gyre_durable_sync sync;
    uint64_t sync_ns, size_max;
    uint64_t begun_size; /* size of the file when it was last written anew */

    pthread_mutex_t lock;
    pthread_t thread;
    bool runs;
    bool failing;        /* the last write failed */
    bool told;           /* a failure to write, or to begin the file anew, was logged */
    bool stuck;          /* the file had to begin anew, and could not */
    bool settled;        /* the kernel ended with a checkpoint: no request has to be handled again */
    uint64_t synced_ns;  /* when the file was last synced */
    uint32_t bell, stop; /* atomic: bell: futex word that grows; stop: nonzero ends the thread */
};

#endif
