/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A relay copies messages between the rings of attached programs (clients) and a kernel's queue that keeps its
 * requests, for checkpoints or a journal. A kept request may have to be handled again exactly as it was, so it cannot
 * lie in memory that another program writes, and a journal lets its sender wait for the disk. So a thread of the
 * server copies each request out of its client's ring into the kernel's queue, and each completion back
 * (docs/adr/serving.md). For the client, this thread is the device of the ring. For the kernel's queue, it is a
 * caller with many calls at once (call.c), so the serving program may use the queue besides.
 *
 * A request of a client that is gone is handled all the same. If the client has a name, the completion waits for the
 * client's return for a while. It waits in this server, or in the server's next life, where the journal tells whose
 * request it was.
 *
 * Locks: server->relay_lock for the list of relays, then relay->lock for everything of one relay. The thread holds
 * relay->lock for one turn over all rings, never while it sleeps.
 */
#ifndef GYRE_CORE_ATTACH_RELAY_H
#define GYRE_CORE_ATTACH_RELAY_H

#include <pthread.h>

#include "core/attach/server.h"
#include "core/kernel/errand.h"
#include "core/queue/origin.h"
#include "core/queue/queue.h"
#include "core/ring/region.h"
#include "core/stages/log.h"

/**
 * A promise about requests (that they are durable, or covered by a checkpoint) that a client is told: once the
 * kernel's queue keeps it for its requests below target_end, the client is told it for its own requests below
 * client_end.
 */
struct gyre_relay_promise {
    bool open;
    /* the client's requests below client_end are the queue's requests below target_end */
    uint64_t client_end, target_end;
    uint64_t told; /* the client was told the promise for its requests below this index */
};

/** A client's ring. */
struct gyre_relay_ring {
    struct gyre_relay_ring *next;
    struct gyre_relay *relay;
    gyre_queue *queue;   /* the ring, lent to the client */
    uint64_t client;     /* the client's number, as in its requests' origins */
    uint64_t taken;      /* the client's first request that is not in the kernel's queue yet */
    uint64_t target_end; /* 1 + the last of the client's requests in the kernel's queue */
    uint64_t under_way; /* the client's requests that are in the kernel's queue, not completed in this ring */
    uint64_t floor;     /* the client's requests below this index are completed */
    bool leaves;        /* the client leaves: no more of its requests are taken */
    bool rings;         /* something new is in the ring, and a client that sleeps must be woken */
    bool shut;          /* the client was told that sends are closed */
    struct gyre_relay_promise covered, durable;
};

/** What the relay knows of the request in a slot of the kernel's queue. */
struct gyre_relay_place {
    uint64_t request; /* index + 1 of a relayed request whose slot is still in use; 0: none */
    struct gyre_origin origin;
    struct gyre_relay_ring *ring; /* the ring of the request's client; NULL: the client is not there */
    bool given;                   /* the completion was copied into that ring */
    uint64_t until_ns;            /* without a ring: how long the completion waits for the client's return */
};

/** A client with a name, and the index that its next request gets. */
struct gyre_relay_name {
    struct gyre_relay_name *next;
    uint64_t client, next_index;
    uint64_t left_ns; /* when the client left, or was not let in; 0: it is attached */
};

/** What a relay knows about lending its turns (relay_lent.c). */
struct gyre_relay_loan {
    bool streams;      /* constant: streams are lent, too, because there are fewer processors than threads */
    uint32_t calm;     /* the thread's: turns in a row with one request at most */
    uint32_t slow;     /* lent turns in a row for which a stream waited long */
    uint64_t left_ns;  /* when the last lent turn left a stream under way; 0: none is */
    uint64_t again_ns; /* no stream is lent before; 0: the handler is not slow */
};

struct gyre_relay {
    struct gyre_relay *next;
    gyre_queue *target; /* the kernel's queue; the relay stays in it (gyre_queue_stay) until `ended` */
    char kernel[64];
    struct gyre_region region;    /* memory of `control` */
    gyre_control_region *control; /* the control region that the clients see */
    uint64_t return_ns;           /* how long completions wait for the return of a client with a name */

    pthread_mutex_t lock;
    pthread_cond_t changed; /* signalled when a request was completed or became durable, and at the end */
    struct gyre_relay_ring *rings;
    struct gyre_relay_name *names;
    struct gyre_relay_place *places;    /* one for each slot of the target */
    uint64_t oldest;                    /* no place below this index is in use */
    uint64_t given_end;                 /* no completion below this index has to go to a ring */
    uint64_t turns;                     /* turns of the thread */
    uint64_t absent;                    /* places in use whose client is not there */
    struct gyre_logged_request request; /* the request that is being copied alone */
    unsigned char *batch;               /* the payloads of requests that are copied together ... */
    gyre_header *batch_headers;         /* ... and their headers; NULL: messages have none */
    uint64_t batch_most;                /* the most requests that are copied together */
    bool held;                          /* the thread's: a client's request found no room in the target */
    uint64_t last_word_ns;              /* how long the end waits for the journal; 0: it does not wait yet */
    bool ended;                         /* the target is closed and not looked at any more */
    uint64_t serial;                    /* the last number given to a client without a name */
    struct gyre_kernel_errand *errand;  /* the kernel's: by it the thread lends its turns */
    struct gyre_relay_loan loan;
    pthread_t thread;
    uint32_t stop; /* atomic */
};

static inline struct gyre_relay_place *gyre_relay_place(const struct gyre_relay *relay, uint64_t index)
{
    return &relay->places[index & gyre_ring_of(relay->target)->mask];
}

static inline bool gyre_relay_is_in_use(const struct gyre_relay *relay, uint64_t index)
{
    return gyre_relay_place(relay, index)->request == index + 1;
}

/** Whether the completion of request `index` still has to be copied into a ring, now or when it is there. */
static inline bool gyre_relay_owes(const struct gyre_relay *relay, uint64_t index)
{
    const struct gyre_relay_place *place = gyre_relay_place(relay, index);
    return place->request == index + 1 && place->ring && !place->given;
}

/** How many requests of clients that are there are under way. */
static inline uint64_t gyre_relay_under_way(const struct gyre_relay *relay)
{
    uint64_t count = 0;
    for (const struct gyre_relay_ring *ring = relay->rings; ring; ring = ring->next)
        count += ring->under_way;
    return count;
}

#endif
