/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the journal of one queue (journal.c): its requests, how far its replies were taken, and the checkpoints of
 * its kernel. restore.c puts a journal's content into a new queue. The slot of a request that was written may be used
 * again; a request that was synced is durable.
 *
 * Now and then the journal begins a new file (gyre_journal_renew) with only the requests and the checkpoint that are
 * still needed. The new file is written beside the old file and replaces it when it is whole.
 *
 * All bytes go through a struct gyre_journal_disk, so that tests can crash the disk at any byte. Threads: the caller
 * holds a lock around all functions.
 */
#ifndef GYRE_CORE_JOURNAL_JOURNAL_H
#define GYRE_CORE_JOURNAL_JOURNAL_H

#include "core/journal/content.h"
#include "core/stages/log.h"
#include "core/state/store.h"
#include "core/queue/names.h"
#include "core/queue/queue.h"

/** The functions that write a journal's bytes to a file. A function that fails puts its reason on the error stack. */
struct gyre_journal_disk {
    /**
     * Adds bytes at the end of the file. The last `tail` bytes, at most GYRE_MARK_SIZE, do not move the end: the next
     * append overwrites them. After a failure the end and the bytes behind it are as before the call.
     */
    gyre_status (*append)(void *context, const void *bytes, size_t size, size_t tail);
    gyre_status (*sync)(void *context);
    /** Begins a new, empty file: append and sync use it from now on. */
    gyre_status (*begin_anew)(void *context);
    /**
     * Ends the new file: syncs it and puts it in the place of the old file. `keep` false: throws it away, and the old
     * file goes on.
     */
    gyre_status (*end_anew)(void *context, bool keep);
};

struct gyre_journal {
    const struct gyre_journal_disk *disk;
    void *context;
    struct gyre_record_open open; /* names the kernel and queue; `first` is filled in for each file */
    const struct gyre_journal_type *types; /* the kernel's types, for each file; the caller owns them */
    size_t type_count;
    struct gyre_bytes group; /* the group: records that are written together */
    uint64_t number;         /* the number of the last record */
    uint64_t size;           /* bytes in the file */
    uint64_t sent, taken;    /* below these indices: requests were written; replies were noted as taken */
    uint64_t checkpoint;     /* the journal's number of its last checkpoint; 0: none */
    uint64_t stored;         /* the store's number of that checkpoint */
    bool owes;               /* bytes written since the last sync must outlive a loss of power */
    bool doubtful;           /* a sync failed: bytes written before it may not be on the disk */
    void *request;           /* room for one request */
    struct gyre_names names; /* clients with names whose requests went into a group */
};

/**
 * Prepares a journal and fills in the sizes of `open`. The journal has no file yet: gyre_journal_renew makes it.
 * EXHAUSTED.
 */
gyre_status gyre_journal_init(struct gyre_journal *journal, const struct gyre_journal_disk *disk,
                              void *context, const gyre_queue *queue);

/**
 * Writes the requests that were sent, and the replies' taking, since the last call: at most some MiB. *more: more may
 * be left. After a failure the journal is as before, and the caller may try again.
 */
gyre_status gyre_journal_gather(struct gyre_journal *journal, const gyre_queue *queue, bool *more);

/**
 * Writes all requests that were sent, and then the last checkpoint of `store` (NULL: the kernel has no state). The
 * log of the queue must know this checkpoint as its base. `all`: writes every block of the state; else the blocks
 * that changed. Also writes the replies that the checkpoint covers and the program has not taken yet.
 */
gyre_status gyre_journal_checkpoint(struct gyre_journal *journal, const gyre_queue *queue,
                                    const struct gyre_store *store, bool all);

/**
 * Begins a new file with the requests that are still needed (not covered, or reply not taken) and the last
 * checkpoint.
 */
gyre_status gyre_journal_renew(struct gyre_journal *journal, const gyre_queue *queue,
                               const struct gyre_store *store);

/**
 * Forces all written bytes to the disk. After a failure the bytes may be neither in the system's memory nor on the
 * disk, and a second attempt would not tell, because Linux reports such an error once. So this function fails from
 * then on, until gyre_journal_renew has written everything to a new file.
 */
gyre_status gyre_journal_sync(struct gyre_journal *journal);
/**
 * Marks that the program ends normally: it has written all that it had to write, and will add nothing. `settled`: no
 * handler handled a request that the last checkpoint does not cover.
 */
gyre_status gyre_journal_end(struct gyre_journal *journal, bool settled);
void gyre_journal_release(struct gyre_journal *journal);

/**
 * Puts the content of a journal into a new queue. The queue begins with the first request whose reply was not taken
 * (content->received), and has a log that is large enough. A request that the checkpoint covers gets its reply. A
 * request that the checkpoint does not cover is put into the queue as if it had just been sent, without a deadline. A
 * request before the queue's first that has to be handled again goes into the log. EXHAUSTED when the requests do not
 * fit into the queue.
 */
gyre_status gyre_journal_restore(const struct gyre_journal_content *content, gyre_queue *queue);

#endif
