/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a queue, so that its requests can be handled again from a checkpoint on: a request whose slot is about to
 * be used anew is copied into the log, unless the checkpoint covers it. Requests that are still in their slots are read
 * there, so nothing is ever copied if checkpoints come more often than the queue goes round.
 *
 * The log is bounded: when the next request would not fit, senders wait for a checkpoint.
 *
 * Threads: the producer's functions under the producer's lock (or by the one thread that sends); positions
 * and commits by one thread at a time, which the runtime sees to; reading in any thread, while no commit
 * happens. A reader may run beside a sender.
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

struct gyre_queue_log {
    unsigned char *entries;
    uint64_t count;  /* entries; request `index` has entry index % count */
    uint32_t stride; /* bytes of an entry */
    uint64_t saved;  /* atomic: requests below it are no longer in their slots, and were copied if needed */
    uint64_t limit;  /* atomic: requests from this index on have to wait */
    uint64_t announced;              /* atomic: the end of the requests that are being sent */
    uint64_t ask_at;                 /* atomic: a request from here on is worth a call of `ask` */
    uint64_t journal_limit;          /* atomic: as `limit`, because of a journal; UINT64_MAX: there is none */
    uint64_t durable;                /* atomic: requests below are in the journal, as its settings promise */
    bool keeps;                      /* there are checkpoints; else only a journal */
    uint32_t *journal_bell;          /* NULL: no journal; a futex word */
    uint32_t journal_sleeps;         /* atomic: the journal sleeps, so the bell has to be rung */
    struct gyre_queue_position base; /* of the last checkpoint; its `first` is atomic */
    struct gyre_queue_position coming; /* of the checkpoint that is being taken */
    bool looked;                       /* `coming` was noted for it */
    uint32_t asked;                    /* atomic: `ask` was called, and need not be again */
    void (*ask)(void *context);        /* must not block */
    void *ask_context;
};

/** NULL: the queue has no log. */
static inline struct gyre_queue_log *gyre_log_of(const gyre_queue *queue)
{
    return gyre_stage_state(queue, GYRE_STAGE_LOG);
}

/** Gives the queue a log of at most `bytes` (0: nothing is kept). INVALID when not even one request fits. */
gyre_status gyre_queue_log_create(gyre_queue *queue, uint64_t bytes);
/** Accepts a queue without. */
void gyre_queue_log_destroy(gyre_queue *queue);

/* ---- the producer ---- */

/** How many of the `wanted` slots from `index` on may be written now; their old requests were kept. */
uint64_t gyre_queue_log_grant(gyre_queue *queue, uint64_t index, uint64_t wanted);
/** Whether a request may take this index as far as the log is concerned. Any thread. */
bool gyre_queue_log_has_room(const gyre_queue *queue, uint64_t index);

/** How many of `wanted` requests from this index on may be sent as far as the log is concerned. Any thread. */
uint64_t gyre_queue_log_room(const gyre_queue *queue, uint64_t index, uint64_t wanted);

/** Whether it is the journal that holds up the next request. Any thread. */
bool gyre_queue_log_awaits_journal(const gyre_queue *queue);
/**
 * Replies were taken, or a sender is about to wait: wakes the journal if it holds senders up and has to note that
 * replies were taken. Any thread.
 */
void gyre_queue_log_tell_journal(gyre_queue *queue);

/* ---- checkpoints: between two messages ---- */

/** Notes which requests are handled now. The device is at a message boundary and stays there meanwhile. */
void gyre_queue_log_look(gyre_queue *queue);
/** From now on the last checkpoint covers the requests that gyre_queue_log_look noted. The next checkpoint is asked for
 * `ask_after` requests later. */
void gyre_queue_log_commit(gyre_queue *queue, uint64_t ask_after);
/** Sets the last checkpoint to the requests that a journal says it covers. No device. */
void gyre_queue_log_resume(gyre_queue *queue, uint64_t first, uint64_t ask_after);
/** Everything that was sent is settled: a kernel begins with its initial state. No device. */
void gyre_queue_log_restart(gyre_queue *queue, uint64_t ask_after);
/** Whether a checkpoint is worth taking soon. After a "no", `ask` is called as soon as one is. */
bool gyre_queue_log_asks(gyre_queue *queue);
/** How many requests were handled since the last checkpoint, as far as they are one after the other. */
uint64_t gyre_queue_log_behind(const gyre_queue *queue);

/* ---- replay ---- */

/** A request as it was sent. */
struct gyre_logged_request {
    void *payload; /* room for the largest */
    uint32_t length;
    gyre_header header; /* the request's header without its deadline, if messages have headers */
    bool query;         /* a query, of which only its index is kept; length is 0 */
};

/**
 * Copies a request that the checkpoint does not cover, from the log or its slot. Whether a handler ran for
 * it that may have changed something, if it is completed.
 */
bool gyre_queue_log_read(const gyre_queue *queue, uint64_t index, struct gyre_logged_request *request);

/**
 * The next request at or behind *index, below `end`, that was handled after the checkpoint and answered.
 * False when there is none; else *index is its index.
 */
bool gyre_queue_log_next(const gyre_queue *queue, uint64_t *index, uint64_t end,
                         struct gyre_logged_request *request);

/** Whether a worker overwrote the slot of a request below `end` that would have to be handled again. */
bool gyre_queue_log_is_damaged(const gyre_queue *queue, uint64_t end);

/** Sends a request as it was sent. False when there is no room. Takes the producer's lock; the caller rings. */
bool gyre_queue_put_logged(gyre_queue *queue, const struct gyre_logged_request *request);

/** Enters a request of an earlier life, below the first one of the queue. */
void gyre_queue_log_put(gyre_queue *queue, uint64_t index, const struct gyre_logged_request *request,
                        bool handled);
/** Bytes that so many requests take in a log. */
uint64_t gyre_queue_log_bytes(const gyre_queue *queue, uint64_t count);

/* ---- journals ---- */

/** Requests below `limit` may be sent as far as a journal is concerned. */
void gyre_queue_log_set_journal_limit(gyre_queue *queue, uint64_t limit);
/** Requests below `index` are durable. */
void gyre_queue_log_set_durable(gyre_queue *queue, uint64_t index);
/** Of a request that is in its slot. */
uint32_t gyre_queue_request_length(const gyre_queue *queue, uint64_t index);

#endif
