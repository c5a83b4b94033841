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
    struct gyre_journal_type types[GYRE_JOURNAL_TYPES_MAX]; /* the kernel's present types */
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
    bool settled;        /* the kernel ended with a checkpoint: no request has to be handled again */
    uint64_t synced_ns;  /* when the file was last synced */
    uint32_t bell, stop; /* atomic: bell: futex word that grows; stop: nonzero ends the thread */
};

/**
 * Opens and reads the journal of a queue that is about to be made, if [queue.SECTION] asks for one; else *out is NULL.
 * Sets desc->first_sequence to the index at which the queue has to begin.
 */
gyre_status gyre_durable_open(gyre_kernel *kernel, gyre_queue_desc *desc, const char *section,
                              struct gyre_durable **out);
/** Lets a queue go on where the journal ended. The queue has the log that a journal needs (gyre_checkpoints_equip). The
 * queue owns `durable` afterwards. */
gyre_status gyre_durable_attach(struct gyre_durable *durable, gyre_queue *queue);
/** The least number of requests for which the queue's log (core/stages/log.h) needs room. */
uint64_t gyre_durable_log_count(const struct gyre_durable *durable);
/** Ends the thread, with a last look at the queue, and closes the file. Accepts NULL. */
void gyre_durable_end(struct gyre_durable *durable);
/** Frees the journal after gyre_durable_end, when no thread is in the queue and might ring the journal's bell. Accepts NULL. */
void gyre_durable_free(struct gyre_durable *durable);

/** Writes the journals of all queues anew, for a device that is about to start with its initial state. */
gyre_status gyre_durable_begin(gyre_kernel *kernel);
/** Writes the journal of one queue anew. The queue's kernel may run. */
gyre_status gyre_durable_begin_queue(gyre_queue *queue);
/** Writes the last checkpoint into the journal. Checkpoints' `writing` keeps other threads from taking
 * a checkpoint meanwhile. */
void gyre_durable_checkpoint(gyre_kernel *kernel);
/** Does what gyre_durable_checkpoint does, for a checkpoint from after the device left: no request was handled behind it. */
void gyre_durable_settle(gyre_kernel *kernel);
/** True when a queue of the kernel has a journal. Under kernel->lock. */
bool gyre_durable_has(const gyre_kernel *kernel);
/** The handler's state from the journal of the kernel's queue; NULL: no journal holds a state. */
const unsigned char *gyre_durable_state(const gyre_kernel *kernel);
/** Frees the content that was read from journals of an earlier run. Call when the kernel runs, because it has taken the content
 * over then. */
void gyre_durable_forget(gyre_kernel *kernel);

#endif
