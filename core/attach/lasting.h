/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue that outlasts its servers (gyre_attach_desc.reconnect). Its ring is memory of this program alone, whose
 * senders and receivers go through the code of any queue. A thread stands in for the device of that ring: it carries
 * requests into the queue of the server that there is, and completions back. A request stays in the ring until its
 * completion is there, so when the server is gone the thread waits for the next one, attaches again, and sends again what
 * is unanswered.
 *
 * A request has an index in the ring, and a number in the queue of the server of now, which are the same until a request
 * is dropped or a server without a memory comes. A client with a name finds by the numbers what the journal of the next
 * server knows: requests below its `first` are settled, those up to `end` are offered, and those from there on left no
 * trace. Where there is a journal a completion is held until the request is durable: so nothing that was answered can be
 * lost with a server, and be handled a second time; and the next server, which is told how far that is, refuses a client
 * whose answered requests its journal does not hold: that is an older one, or another.
 *
 * Threads: all of this is the thread's alone, except the ring and `said`. Locks: said.lock for its text; the ring is a
 * queue, and its thread a device.
 */
#ifndef GYRE_CORE_ATTACH_LASTING_H
#define GYRE_CORE_ATTACH_LASTING_H

#include "core/attach/attachment.h"
#include "core/base/thread.h"
#include "core/queue/queue.h"

/** What became of the request of a slot of the ring. */
enum gyre_lasting_stage {
    GYRE_LASTING_NEW,   /* no server has seen it */
    GYRE_LASTING_SENT,  /* the server of now has it, or its journal */
    GYRE_LASTING_HELD,  /* its completion is in the reply slot, and is told when the request is durable */
    GYRE_LASTING_AGAIN, /* it is to be sent again */
    GYRE_LASTING_DONE
};

struct gyre_lasting_place {
    uint64_t request; /* index + 1 of the request that this is of */
    uint64_t number;  /* in the server's queue */
    uint8_t stage;    /* of gyre_lasting_stage */
    bool held;        /* its reply slot has a completion, which was not told */
    bool unhandled;   /* its server ended, and says so */
    bool earlier;     /* sent by an earlier client of this name: its message is not here */
};

/** What was asked of the requests so far and is told once the server's word has come so far. */
struct gyre_lasting_promise {
    bool open;
    uint64_t index_end, number_end;
};

/** What the server of now says to a client that it refuses. Written by the thread, read by callers whose deadline passed. */
struct gyre_lasting_said {
    pthread_mutex_t lock;
    char text[400]; /* empty: there is no server, or it did not refuse */
};

struct gyre_lasting {
    struct gyre_attachment front; /* first; the ring's, for gyre_queue_types and forks */
    char name[GYRE_MEETING_NAME_MAX], path[GYRE_PLACE_MAX], client[GYRE_CLIENT_NAME_MAX];
    gyre_attach_desc desc; /* what is asked of each server; its texts and types are here */
    struct gyre_kept_block *types;
    gyre_control_region *control;

    struct gyre_attachment *back; /* at the server of now; NULL: there is none */
    gyre_queue *ring;             /* what the program has */
    uint32_t server;              /* the process that served last */
    uint64_t lost_ns;             /* when that was gone */
    uint64_t last_word_ns;        /* until when one that ends may still say what is durable; 0: none ends */
    uint64_t nap_ns, patience_ns; /* between two attempts; of one */
    struct gyre_lasting_said said;

    struct gyre_lasting_place *places;
    uint64_t oldest;   /* all requests below are done */
    uint64_t again;    /* of those below `next`, none below this one is to be sent again */
    uint64_t next;     /* no request from here on was seen by a server, in this connection or before */
    uint64_t answered; /* behind the request that was answered last: where the next one is looked for */
    uint64_t durable;  /* numbers below are, as far as completions were told */
    uint64_t
        told_end; /* behind the highest number whose reply was told, durable: any next server has to know it */
    struct gyre_lasting_promise covered, kept;
    bool rings;   /* something is there that a receiver may sleep for */
    bool held_up; /* a request found no room at the server */

    unsigned char *replies; /* room for REPLIES of them */
    unsigned char *batch;   /* and for requests */
    gyre_header *batch_headers;
    uint64_t reply_most, batch_most;
    pthread_t thread;
    uint32_t stop; /* atomic */
};

/** gyre_attach of a descriptor with `reconnect`. */
gyre_status gyre_lasting_attach(const char *name, const gyre_attach_desc *desc, gyre_queue **out);

/* ---- lasting_ring.c: messages ---- */

/** Room to carry messages in. EXHAUSTED; what there is, is freed by gyre_lasting_free_room. */
gyre_status gyre_lasting_make_room(struct gyre_lasting *lasting);
void gyre_lasting_free_room(struct gyre_lasting *lasting);

/** Requests to the server. Whether anything happened. */
bool gyre_lasting_take(struct gyre_lasting *lasting);
/** Without a server: requests that need none are completed. Whether there were any. */
bool gyre_lasting_tidy(struct gyre_lasting *lasting);
/** Completions from the server. *over: none will come any more. Whether anything happened. */
bool gyre_lasting_give(struct gyre_lasting *lasting, bool *over);
/** What became durable, or was covered, is told. Whether anything is new. */
bool gyre_lasting_promise(struct gyre_lasting *lasting);
/** Wakes whoever waits at the ring, if there is anything. */
void gyre_lasting_ring_bell(struct gyre_lasting *lasting);
/** Whether completions are held until their requests are durable. */
bool gyre_lasting_holds(const struct gyre_lasting *lasting);
/** Whether requests are at the server. */
bool gyre_lasting_awaits(const struct gyre_lasting *lasting);

static inline struct gyre_lasting_place *gyre_lasting_place(const struct gyre_lasting *lasting,
                                                            uint64_t index)
{
    return &lasting->places[index & gyre_ring_of(lasting->ring)->mask];
}

/** The completion that is in the reply slot is told. */
void gyre_lasting_tell(struct gyre_lasting *lasting, uint64_t index);
/** Completes a request without a server. */
void gyre_lasting_complete(struct gyre_lasting *lasting, uint64_t index, uint32_t outcome);
void gyre_lasting_fail(struct gyre_lasting *lasting, uint64_t index, int32_t code, const char *text);

/* ---- lasting_resume.c: from one server to the next ---- */

/** The server is gone, and its last completions were given. */
void gyre_lasting_leave(struct gyre_lasting *lasting);
/** Another one is there (`back`): what it knows, and what is to be sent again. INCOMPATIBLE when its queue is another. */
gyre_status gyre_lasting_resume(struct gyre_lasting *lasting);

#endif
