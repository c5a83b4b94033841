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

enum gyre_durable_sync { GYRE_SYNC_NEVER = 0, GYRE_SYNC_GROUP = 1, GYRE_SYNC_INTERVAL = 2 };

struct gyre_durable {
    gyre_kernel *kernel;
    gyre_queue *queue; /* NULL until the queue is made */
    struct gyre_journal_file file;
    struct gyre_journal journal;
    struct gyre_journal_type types[GYRE_JOURNAL_TYPES_MAX]; /* of the kernel, now */
    size_t type_count;
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
    bool settled;        /* the kernel ended with a checkpoint, so no request has to be handled again */
    uint64_t synced_ns;  /* when the file was last synced */
    uint32_t bell, stop; /* atomic: a futex word that grows; nonzero: the thread has to end */
};

/**
 * Opens and reads the journal of a queue that is about to be made, if [queue.SECTION] asks for one; else *out is NULL.
 * Sets desc->first_sequence to the index at which the queue has to begin.
 */
gyre_status gyre_durable_open(gyre_kernel *kernel, gyre_queue_desc *desc, const char *section,
                              struct gyre_durable **out);
/** Lets an equipped queue go on where the journal ended. The queue owns `durable` afterwards. */
gyre_status gyre_durable_attach(struct gyre_durable *durable, gyre_queue *queue);
/** The number of requests that the log of the queue needs room for at least. */
uint64_t gyre_durable_log_count(const struct gyre_durable *durable);
/** Ends the thread, with a last look at the queue, and closes the file. Accepts NULL. */
void gyre_durable_end(struct gyre_durable *durable);
/** After gyre_durable_end, when no thread is in the queue and might ring the journal's bell. Accepts NULL. */
void gyre_durable_free(struct gyre_durable *durable);

/** Writes the journals of all queues anew, for a device that is about to start with its initial state. */
gyre_status gyre_durable_begin(gyre_kernel *kernel);
/** The same for one queue, whose kernel may run. */
gyre_status gyre_durable_begin_queue(gyre_queue *queue);
/** Writes a checkpoint that was taken into the journals. No other is taken meanwhile (`writing`). */
void gyre_durable_checkpoint(gyre_kernel *kernel);
/** The same for a checkpoint that was taken after the device left, behind which no request was handled. */
void gyre_durable_settle(gyre_kernel *kernel);
/** True when a queue of the kernel has a journal. Under kernel->lock. */
bool gyre_durable_has(const gyre_kernel *kernel);
/** The state in the journal of a queue of the kernel; NULL: no journal holds one. */
const unsigned char *gyre_durable_state(const gyre_kernel *kernel);
/** Frees the content of journals of an earlier run: the kernel runs, and has taken it over. */
void gyre_durable_forget(gyre_kernel *kernel);

#endif
