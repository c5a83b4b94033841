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
#include "core/stages/log.h"
#include "core/queue/origin.h"
#include "core/queue/queue.h"
#include "core/ring/region.h"

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
    uint64_t left_ns; /* when the client left; 0: it is attached */
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
    pthread_t thread;
    uint32_t stop; /* atomic */
};

/** Makes a ring for a client of the kernel's queue [queue.SECTION]. Call it only where gyre_kernel_relays says so. */
gyre_status gyre_relay_join(struct gyre_server *server, gyre_kernel *kernel, const char *section,
                            const struct gyre_attach_request *request, struct gyre_queue_options *options,
                            struct gyre_relay_ring **out);
/** Wakes the relay's thread because the ring's client rang its doorbell. */
void gyre_relay_wake(struct gyre_relay_ring *ring);
/**
 * Takes the ring off the relay. Waits until every request that was taken from it is completed, at most until the
 * deadline. True: all are completed, and the requests left in the ring were completed as unhandled. The caller still
 * releases the ring.
 */
bool gyre_relay_leave(struct gyre_relay_ring *ring, uint64_t deadline_ns);
void gyre_relay_release(struct gyre_relay_ring *ring);
/** Ends all relays of a server that has no client any more. */
void gyre_relays_end(struct gyre_server *server);

/**
 * Copies completions from the kernel's queue into the clients' rings: up to the first request without a completion,
 * or, with `whole`, all that are there. Then gives back those slots of the queue whose completions nobody waits for.
 * Returns whether it did anything. Called under relay->lock by the relay's thread. relay_back.c
 */
bool gyre_relay_carry_back(struct gyre_relay *relay, bool whole);

/* relay_ring.c: called under relay->lock, by the relay's thread unless the comment names another one. */

/**
 * Allocates the room for requests that are being copied. EXHAUSTED. The caller calls gyre_relay_free_room in any
 * case.
 */
gyre_status gyre_relay_make_room(struct gyre_relay *relay);
void gyre_relay_free_room(struct gyre_relay *relay);

/**
 * Makes the ring for a client with that number (0: a client without a name) and puts it into the relay's list. The
 * ring takes over the requests that an earlier client of this name left, and *options tells how many they are. Called
 * by a session's thread. `answered`: see gyre_attach_request. INCOMPATIBLE when the queue's journal does not know the
 * client's answered requests.
 */
gyre_status gyre_relay_ring_create(struct gyre_relay *relay, struct gyre_queue_options *options,
                                   uint64_t client, uint64_t answered, struct gyre_relay_ring **out);
/**
 * Notes that the ring's client left, so that the next client of its name goes on with its numbers. Called by a
 * session.
 */
void gyre_relay_ring_note_leave(struct gyre_relay *relay, const struct gyre_relay_ring *ring);
/** Copies the client's requests into the kernel's queue, as far as there is room. Returns how many it is done with. */
uint64_t gyre_relay_take(struct gyre_relay *relay, struct gyre_relay_ring *ring);
/** Copies the completion of the kernel's request `index`, whose place is `place`, into its client's ring. */
void gyre_relay_give(const struct gyre_relay *relay, uint64_t index, struct gyre_relay_place *place);
/**
 * Tells the ring's client which of its requests are durable, or covered by a checkpoint. Returns whether any are new.
 */
bool gyre_relay_promise(const struct gyre_relay *relay, struct gyre_relay_ring *ring);
/** Wakes the ring's client if something new is in the ring (`rings`). */
void gyre_relay_ring_bell(struct gyre_relay_ring *ring);

static inline struct gyre_relay_place *gyre_relay_place(const struct gyre_relay *relay, uint64_t index)
{
    return &relay->places[index & gyre_ring_of(relay->target)->mask];
}

static inline bool gyre_relay_is_in_use(const struct gyre_relay *relay, uint64_t index)
{
    return gyre_relay_place(relay, index)->request == index + 1;
}

#endif
