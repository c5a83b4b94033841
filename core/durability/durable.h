/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues with a journal: what it says of an earlier life of the program is put into the queue before it is
 * served, and a thread of the queue writes what is sent and taken.
 *
 * Lock: durable->lock around everything that is done with the journal; inside `taking` of a kernel's
 * checkpoints, outside nothing.
 */
#ifndef GYRE_CORE_DURABILITY_DURABLE_H
#define GYRE_CORE_DURABILITY_DURABLE_H

#include "core/device/runtime.h"
#include "core/journal/file.h"

enum gyre_durable_sync { GYRE_SYNC_NEVER = 0, GYRE_SYNC_GROUP = 1, GYRE_SYNC_INTERVAL = 2 };

struct gyre_durable {
    gyre_kernel *kernel;
    gyre_queue *queue; /* NULL until it is there */
    struct gyre_journal_file file;
    struct gyre_journal journal;
    struct gyre_journal_type types[GYRE_JOURNAL_TYPES_MAX]; /* the kernel's own */
    size_t type_count;
    unsigned char *data; /* of an earlier life, until the queue goes on from it */
    struct gyre_journal_content content;
    gyre_recovered recovered;
    enum gyre_durable_sync sync;
    uint64_t sync_ns, size_max;
    uint64_t begun_size; /* of the file when it began anew */

    pthread_mutex_t lock;
    pthread_t thread;
    bool runs;
    bool failing;        /* the last write did not work */
    bool told;           /* that it did not, or that the file could not begin anew */
    bool stuck;          /* it was to begin anew, and could not */
    bool settled;        /* its kernel ended with a checkpoint, so nothing is to be handled again */
    uint64_t synced_ns;  /* when */
    uint32_t bell, stop; /* atomic: a futex word that grows; the thread is to end */
};

/**
 * As [queue.SECTION] says: opens the journal of a queue that is about to be made, and reads it; *out is NULL
 * for a queue without one. desc->first_sequence is set to where the queue has to begin.
 */
gyre_status gyre_durable_open(gyre_kernel *kernel, gyre_queue_desc *desc, const char *section,
                              struct gyre_durable **out);
/** The queue was made and equipped: it goes on where the journal ended. `durable` is the queue's then. */
gyre_status gyre_durable_attach(struct gyre_durable *durable, gyre_queue *queue);
/** For so many requests the log of its queue needs room at least. */
uint64_t gyre_durable_log_count(const struct gyre_durable *durable);
/** Ends the thread, with a last look at the queue, and closes the file. Accepts NULL. */
void gyre_durable_end(struct gyre_durable *durable);
/** After its end, and once nobody is in its queue, who might ring its bell. Accepts NULL. */
void gyre_durable_free(struct gyre_durable *durable);

/** The device is about to start, or to be replaced by
 * its first state: all queues write their journal anew. */
gyre_status gyre_durable_begin(gyre_kernel *kernel);
/** The same for one queue, also of a kernel that runs. */
gyre_status gyre_durable_begin_queue(gyre_queue *queue);
/** A checkpoint was taken. Nobody takes another one meanwhile (`writing`). */
void gyre_durable_checkpoint(gyre_kernel *kernel);
/** The same of one that was taken when the device had left: no handler handles anything behind it. */
void gyre_durable_settle(gyre_kernel *kernel);
/** Whether one of its queues has a journal. Under the lock. */
bool gyre_durable_has(const gyre_kernel *kernel);
/** The state that the journal of one of its queues holds; NULL: none. */
const unsigned char *gyre_durable_state(const gyre_kernel *kernel);
/** The kernel runs: what an earlier life left is not needed any more. */
void gyre_durable_forget(gyre_kernel *kernel);

#endif
