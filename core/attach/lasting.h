/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue that outlasts its servers (gyre_attach_desc.reconnect): when its server is gone, it attaches to the next
 * server and goes on there. The ring of this queue is memory of this program alone; the program sends and receives
 * through it as through any queue. A thread acts as the ring's device: it carries requests into the queue at the
 * present server, and completions back into the ring. A request stays in the ring until its completion is there. So
 * when the server is gone, the thread waits for the next server, attaches again, and sends the unanswered requests
 * again.
 *
 * A request has an index in the ring and a number in the queue at the present server. Index and number are equal
 * until a request is dropped, or a server comes that does not remember this client. A client with a name finds by the
 * numbers what the journal of the next server knows: requests below `first` are settled (nothing comes for them any
 * more), completions of requests from `first` to `end` are still to come, and requests from `end` on left no trace.
 *
 * Where the server has a journal, a completion is held in the ring until its request is durable. So an answered
 * request cannot be lost with its server and be handled a second time. The next server is told how many requests were
 * answered, and refuses the client when its journal does not know them all: then the journal is an older one, or
 * another one.
 *
 * Threads: everything belongs to the queue's thread, except the ring and `said`. Lock: said.lock for the text in
 * `said`. The ring needs no further lock: it is a queue, and the thread is its device.
 */
#ifndef GYRE_CORE_ATTACH_LASTING_H
#define GYRE_CORE_ATTACH_LASTING_H

#include "core/attach/attachment.h"
#include "core/base/threads.h"
#include "core/queue/queue.h"

/** How far the request in a slot of the ring has come. */
enum gyre_lasting_stage {
    GYRE_LASTING_NEW,  /* no server has seen the request */
    GYRE_LASTING_SENT, /* the present server, or its journal, has the request */
    GYRE_LASTING_HELD, /* the completion is in the reply slot; receivers see it when the request is durable */
    GYRE_LASTING_AGAIN, /* the request must be sent again */
    GYRE_LASTING_DONE   /* receivers can see the completion */
};

struct gyre_lasting_place {
    uint64_t request; /* index + 1 of the request whose place this is */
    uint64_t number;  /* the request's number in the server's queue */
    uint8_t stage;    /* enum gyre_lasting_stage */
    bool held;        /* the reply slot has a completion that receivers do not see yet */
    bool unhandled;   /* the server said, as it ended, that it did not handle the request */
    bool earlier;     /* an earlier client of this name sent the request: its message is not in this ring */
};

/**
 * A promise about requests (that they are durable, or covered by a checkpoint) that the ring passes on: once the server
 * promises it for its numbers below number_end, the ring promises it for the indices below index_end.
 */
struct gyre_lasting_promise {
    bool open;
    uint64_t index_end, number_end;
};

/**
 * The sentence with which the present server refuses this client. The thread writes it; callers read it at their
 * deadlines.
 */
struct gyre_lasting_said {
    pthread_mutex_t lock;
    char text[400]; /* empty: there is no server, or it did not refuse */
};

struct gyre_lasting {
    struct gyre_attachment front; /* must be first: the ring's attachment, for gyre_queue_types and forks */
    char name[GYRE_MEETING_NAME_MAX], path[GYRE_PLACE_MAX], client[GYRE_CLIENT_NAME_MAX];
    gyre_attach_desc desc; /* what is asked of each server; points to texts and types of this struct */
    struct gyre_kept_block *types;
    gyre_control_region *control;

    struct gyre_attachment *back; /* the attachment at the present server; NULL: no server is there */
    gyre_queue *ring;             /* the queue that the program has */
    uint32_t server;              /* the process of the last server */
    uint64_t lost_ns;             /* when the last server was gone */
    uint64_t last_word_ns;        /* how long an ending server may still tell what is durable; 0: none ends */
    uint64_t nap_ns, patience_ns; /* the time between two attempts to attach; the time limit of an attempt */
    struct gyre_lasting_said said;

    struct gyre_lasting_place *places;
    uint64_t oldest;   /* all requests below this index are done */
    uint64_t again;    /* no request below this index must be sent again */
    uint64_t next;     /* no server has seen the requests from this index on */
    uint64_t answered; /* 1 + the request that was answered last: the search for the next one begins here */
    uint64_t durable;  /* requests below this number are durable, and their completions were told */
    /* 1 + the highest number of a durable request whose reply receivers can see; a later server must know it */
    uint64_t told_end;
    struct gyre_lasting_promise covered, kept;
    bool rings;   /* something new is in the ring, and receivers that sleep must be woken */
    bool held_up; /* a request found no room at the server */

    unsigned char *replies;     /* room for `reply_most` replies that are carried together */
    unsigned char *batch;       /* room for `batch_most` requests that are carried together */
    gyre_header *batch_headers; /* the headers of these requests */
    uint64_t reply_most, batch_most;
    pthread_t thread;
    uint32_t stop; /* atomic */
};

static inline struct gyre_lasting_place *gyre_lasting_place(const struct gyre_lasting *lasting,
                                                            uint64_t index)
{
    return &lasting->places[index & gyre_ring_of(lasting->ring)->mask];
}

#endif
