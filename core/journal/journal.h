/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a journal of one queue: its requests, how far its replies were taken, and the checkpoints of its
 * kernel. What was written may be used anew in the ring; what was synced is durable.
 *
 * A journal begins anew now and then (gyre_journal_renew), with what is needed of it alone: in a file beside
 * the old one, which it replaces when it is whole.
 *
 * Everything goes through a disk, so that tests can crash one at any byte. Threads: the caller's lock.
 */
#ifndef GYRE_CORE_JOURNAL_JOURNAL_H
#define GYRE_CORE_JOURNAL_JOURNAL_H

#include "core/journal/content.h"
#include "core/stages/log.h"
#include "core/state/store.h"
#include "core/queue/names.h"
#include "core/queue/queue.h"

/** Where the bytes go. A function that fails has said why. */
struct gyre_journal_disk {
    /**
     * Adds bytes at the end. The last `tail` of them, at most GYRE_MARK_SIZE, stand behind the end: the next
     * append goes over them. After a failure the end, and what stands behind it, is what it was.
     */
    gyre_status (*append)(void *context, const void *bytes, size_t size, size_t tail);
    gyre_status (*sync)(void *context);
    /** From now on bytes go into another, empty file. */
    gyre_status (*begin_anew)(void *context);
    /** That file takes the place of the old one, synced; or, `keep` false, it is thrown away. */
    gyre_status (*end_anew)(void *context, bool keep);
};

struct gyre_journal {
    const struct gyre_journal_disk *disk;
    void *context;
    struct gyre_record_open open;          /* who it is of; `first` is filled in for each file */
    const struct gyre_journal_type *types; /* the owner's; described in each file */
    size_t type_count;
    struct gyre_bytes group; /* what is being put together */
    uint64_t number;         /* of the last record */
    uint64_t size;           /* bytes in the file */
    uint64_t sent, taken;    /* requests below are written; so is that replies below were taken */
    uint64_t checkpoint;     /* number of the last one; 0: none */
    uint64_t stored;         /* which of the store's it was */
    bool owes;               /* what was written since the last sync has to outlive a loss of power */
    bool doubtful;           /* a sync failed, so what was written before it may be nowhere */
    void *request;           /* room for one */
    struct gyre_names names; /* clients with names, as far as their requests went into a group */
};

/** One that has no file yet: gyre_journal_renew makes it. The sizes of `open` are filled in. EXHAUSTED. */
gyre_status gyre_journal_init(struct gyre_journal *journal, const struct gyre_journal_disk *disk,
                              void *context, const gyre_queue *queue);

/**
 * Writes what was sent and taken since, at most some MiB of it. *more: there may be more. After a failure
 * nothing has changed, and it may be tried again.
 */
gyre_status gyre_journal_gather(struct gyre_journal *journal, const gyre_queue *queue, bool *more);

/**
 * Writes the last checkpoint of `store` (NULL: there is no state), which the log of the queue knows as its
 * base, after everything that was sent: the blocks that changed, or all of them. The replies that it covers
 * and nobody took yet go along.
 */
gyre_status gyre_journal_checkpoint(struct gyre_journal *journal, const gyre_queue *queue,
                                    const struct gyre_store *store, bool all);

/** Begins a new file with what is needed: requests that are not covered, and the last checkpoint. */
gyre_status gyre_journal_renew(struct gyre_journal *journal, const gyre_queue *queue,
                               const struct gyre_store *store);

/**
 * Forces what was written to the disk. After a failure the bytes may be gone from the system's memory and not
 * on the disk, and the next attempt would not tell (Linux reports an error once): so it fails from then on,
 * until gyre_journal_renew has written everything to a new file.
 */
gyre_status gyre_journal_sync(struct gyre_journal *journal);
/**
 * Marks that the program ends in order: everything that it had to write was written, and nothing is added. `settled`:
 * no handler handled a request that the last checkpoint does not cover.
 */
gyre_status gyre_journal_end(struct gyre_journal *journal, bool settled);
void gyre_journal_release(struct gyre_journal *journal);

/**
 * Puts what a journal says into a new queue, which begins with the first request whose reply was not taken
 * (content->received) and has a log that is large enough: requests that the checkpoint covers get their
 * replies, those behind it are as if they had just been sent, without a deadline; those before the queue, which have to be
 * handled again, go into the log. EXHAUSTED when they do not fit into the queue.
 */
gyre_status gyre_journal_restore(const struct gyre_journal_content *content, gyre_queue *queue);

#endif
