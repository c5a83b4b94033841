/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a queue, from which its requests can be handled again after the last checkpoint. A sender that is about to use
 * a slot anew first copies the slot's old request into the log, unless the checkpoint covers that request. A request that
 * is still in its slot is read there. So nothing is copied when checkpoints come more often than the queue goes round.
 *
 * The log is bounded: when the next request would not fit, senders wait for a checkpoint.
 *
 * Threads: functions of the section "the producer" are called under the producer lock, or by the only thread that sends,
 * unless they say "any thread". Functions of "checkpoints" are called by one thread at a time; the runtime sees to that.
 * Any thread may read while no checkpoint is committed, also beside a sender.
 */
#ifndef GYRE_CORE_STAGES_LOG_H
#define GYRE_CORE_STAGES_LOG_H

#include "core/queue/queue.h"
#include "core/stages/order.h"

/** The requests that a checkpoint covers: all below `first`, and the requests marked in `done` behind it. */
struct gyre_queue_position {
    uint64_t first;
    uint8_t *done; /* a bit for each of the `capacity` indices from `first` on */
};

/** What is kept of each request beside the log (taken.h), in step with it. */
struct gyre_log_companion {
    /** The slot of request `index` is about to be used anew. The producer. */
    void (*save)(const gyre_queue *queue, uint64_t index);
    /** The log goes. */
    void (*destroy)(struct gyre_log_companion *companion);
};

struct gyre_queue_log {
    unsigned char *entries;
    uint64_t count;     /* entries; request `index` has entry index % count */
    uint32_t stride;    /* bytes of an entry */
    uint64_t saved;     /* atomic: requests below this index left their slots, and were copied if needed */
    uint64_t limit;     /* atomic: requests from this index on have to wait */
    uint64_t announced; /* atomic: the end of the requests that are being sent */
    uint64_t ask_at;    /* atomic: a request from this index on is worth a call of `ask` */
    uint64_t
        held_from; /* atomic: like `limit`, while a checkpoint waits for what was sent before; UINT64_MAX: none does */
    uint64_t journal_limit;          /* atomic: like `limit`, set by the journal; UINT64_MAX: no journal */
    uint64_t durable;                /* atomic: requests below are in the journal, as its settings promise */
    bool keeps;                      /* the kernel has checkpoints; false: the queue has only a journal */
    uint32_t *journal_bell;          /* futex word that wakes the journal's thread; NULL: no journal */
    uint32_t journal_sleeps;         /* atomic: the journal sleeps, so the bell has to be rung */
    struct gyre_queue_position base; /* of the last checkpoint; its `first` is atomic */
    struct gyre_queue_position coming; /* of the checkpoint that is being taken */
    bool looked;                       /* gyre_queue_log_look has written `coming` */
    uint32_t asked;                    /* atomic: `ask` was called and need not be called again */
    void (*ask)(void *context);        /* asks for a checkpoint; must not block */
    void *ask_context;
    struct gyre_log_companion *companion; /* NULL: none */
    /* atomic: the longest time in which a group was written since somebody looked; the size of the journal's file */
    uint64_t group_ns, journal_bytes;
};

/** The log of a queue; NULL when the queue has none. */
static inline struct gyre_queue_log *gyre_log_of(const gyre_queue *queue)
{
    return gyre_stage_state(queue, GYRE_STAGE_LOG);
}

/** Gives the queue a log of at most `bytes` (0: nothing is kept). INVALID when not even one request fits. */
gyre_status gyre_queue_log_create(gyre_queue *queue, uint64_t bytes);
/** Frees the queue's log. Accepts a queue without a log. */
void gyre_queue_log_destroy(gyre_queue *queue);

/* ---- the producer ---- */

/** True when the log lets a request take this index. Any thread. */
bool gyre_queue_log_has_room(const gyre_queue *queue, uint64_t index);

/** How many of the `wanted` requests from this index on the log lets a sender send. Any thread. */
uint64_t gyre_queue_log_room(const gyre_queue *queue, uint64_t index, uint64_t wanted);

/** True when the journal holds up the next request. Any thread. */
bool gyre_queue_log_awaits_journal(const gyre_queue *queue);
/**
 * Call after replies were taken, and before a sender waits. Wakes the journal's thread if the journal holds senders up until
 * it has noted taken replies. Any thread.
 */
void gyre_queue_log_tell_journal(gyre_queue *queue);

/* ---- checkpoints: between two messages ---- */

/** Notes which requests are handled. No handler runs during the call. */
void gyre_queue_log_look(gyre_queue *queue);
/** From now on the last checkpoint covers the requests that gyre_queue_log_look noted. The log asks for the next checkpoint
 * `ask_after` requests later. */
void gyre_queue_log_commit(gyre_queue *queue, uint64_t ask_after);
/** Sets the last checkpoint to the requests that a journal says it covers. No device runs. */
void gyre_queue_log_resume(gyre_queue *queue, uint64_t first, uint64_t ask_after);
/** Counts every sent request as covered, for a kernel that begins with its initial state. No device runs. */
void gyre_queue_log_restart(gyre_queue *queue, uint64_t ask_after);
/** True when a checkpoint is worth taking soon. After false, the log calls `ask` as soon as a checkpoint is worth taking. */
bool gyre_queue_log_asks(gyre_queue *queue);
/** How many requests were answered since the last checkpoint, counted up to the first unanswered request. */
uint64_t gyre_queue_log_behind(const gyre_queue *queue);

/**
 * Lets senders send nothing more from here on, until gyre_queue_log_let_go. A sender that was allowed to before may send yet. Any
 * thread; one at a time.
 */
void gyre_queue_log_hold(gyre_queue *queue);
void gyre_queue_log_let_go(gyre_queue *queue);
/** Whether all that was published is completed. Any thread; lasts while nobody sends. */
bool gyre_queue_log_is_settled(const gyre_queue *queue);

/* ---- replay ---- */

/** A request as it was sent. */
struct gyre_logged_request {
    void *payload; /* the caller's memory, with room for the largest request */
    uint32_t length;
    gyre_header header; /* the request's header without its deadline, if messages have headers */
    bool query;         /* the request is a query: its payload is not kept, and `length` is 0 */
};

/**
 * Copies a request that the checkpoint does not cover, from the log or from its slot. For a completed request: returns
 * whether a handler ran that may have changed the state. For an unanswered request the result means nothing.
 */
bool gyre_queue_log_read(const gyre_queue *queue, uint64_t index, struct gyre_logged_request *request);

/**
 * Finds the next request from *index on, below `end`, that was handled and answered after the checkpoint. True: *index is
 * its index, and *request its copy. False: no such request is left, and *index is `end`.
 */
bool gyre_queue_log_next(const gyre_queue *queue, uint64_t *index, uint64_t end,
                         struct gyre_logged_request *request);

/** The index behind the last request that is completed; the checkpoint's first one when none is since. Beside receivers. */
uint64_t gyre_queue_log_end(const gyre_queue *queue);

/** True when the checkpoint covers a request behind the first unanswered one. False for a queue without a log. */
bool gyre_queue_log_is_ahead(const gyre_queue *queue);

/** True when a worker overwrote the slot of a request below `end` that has to be handled again. */
bool gyre_queue_log_is_damaged(const gyre_queue *queue, uint64_t end);

/** Sends a logged request again. False without room. Takes the producer lock; the caller rings the device's bell. */
bool gyre_queue_put_logged(gyre_queue *queue, const struct gyre_logged_request *request);

/** Writes a request of an earlier run of the program into the log, at an index below the first index of the queue. */
void gyre_queue_log_put(gyre_queue *queue, uint64_t index, const struct gyre_logged_request *request,
                        bool handled);
/** The bytes that `count` requests take in a log. */
uint64_t gyre_queue_log_bytes(const gyre_queue *queue, uint64_t count);

/* ---- journals ---- */

/** Lets senders send requests below `limit`, as far as the journal is concerned. Wakes waiting senders. */
void gyre_queue_log_set_journal_limit(gyre_queue *queue, uint64_t limit);
/** Notes how long a group of requests took to be written, and how large the journal is. */
void gyre_queue_log_note_group(gyre_queue *queue, uint64_t group_ns, uint64_t journal_bytes);
/** What is known of the journal of a queue, for those who watch it. */
struct gyre_queue_journal_state {
    uint64_t bytes;    /* of its file */
    uint64_t unsaved;  /* requests that are sent, and not yet as durable as the settings promise */
    uint64_t durable;  /* requests that are: the count grows */
    uint64_t group_ns; /* the longest group since the last call */
};
/** False: the queue has no journal. By one thread: the call forgets the longest group. */
bool gyre_queue_log_journal_state(gyre_queue *queue, struct gyre_queue_journal_state *out);
/** Says that the journal holds the requests below `index`, as durably as its settings promise. Wakes waiting threads. */
void gyre_queue_log_set_durable(gyre_queue *queue, uint64_t index);

#endif
