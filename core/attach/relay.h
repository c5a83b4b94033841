/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients of queues that keep what is sent for another time (checkpoints, journals). What has to be handled
 * again as it was cannot lie in memory that another program writes, and its sender has to wait for the disk:
 * so a thread of the server copies each request out of its client's ring into the kernel's queue, and each
 * completion back (docs/adr/serving.md). Towards the client it is the device of that ring; towards the queue
 * it is a caller of many calls at once (call.c), so the serving program may use the queue besides.
 *
 * A request of a client that is gone is handled all the same. If the client has a name, its completion waits
 * for it, for a while, here or, by what the journal says of origins, in the next life of the server.
 *
 * Locks: server->relay_lock (which relays there are), then relay->lock (everything of one). The thread holds
 * the latter for one turn over all rings, never while it sleeps.
 */
#ifndef GYRE_CORE_ATTACH_RELAY_H
#define GYRE_CORE_ATTACH_RELAY_H

#include <pthread.h>

#include "core/attach/server.h"
#include "core/stages/log.h"
#include "core/queue/origin.h"
#include "core/queue/queue.h"
#include "core/ring/region.h"

/** What was asked of a client's requests and is told once the queue has come so far. */
struct gyre_relay_promise {
    bool open;
    uint64_t client_end, target_end; /* the client's requests below are the queue's below */
    uint64_t told;                   /* requests below */
};

/** A client's ring. */
struct gyre_relay_ring {
    struct gyre_relay_ring *next;
    struct gyre_relay *relay;
    gyre_queue *queue; /* lent */
    uint64_t client;   /* as in its requests' origins */
    uint64_t taken;    /* its next request that is not the queue's yet */
    uint64_t target_end;
    uint64_t under_way; /* in the queue, and not completed here */
    uint64_t floor;     /* all of its requests below are completed */
    bool leaves;        /* no more of its requests are taken */
    bool rings;         /* something is there that it may sleep for */
    bool shut;          /* it was told that sends are closed */
    struct gyre_relay_promise covered, durable;
};

/** A slot of the kernel's queue. */
struct gyre_relay_place {
    uint64_t request; /* index + 1 of a request that was relayed and whose place is not given back; 0: none */
    struct gyre_origin origin;
    struct gyre_relay_ring *ring; /* NULL: its client is not there */
    bool given;                   /* its completion is in that ring */
    uint64_t until_ns;            /* without a ring: how long its completion waits for one */
};

/** Where the numbers of a client with a name go on. */
struct gyre_relay_name {
    struct gyre_relay_name *next;
    uint64_t client, next_index;
    uint64_t left_ns; /* when it left; 0: it is attached */
};

struct gyre_relay {
    struct gyre_relay *next;
    gyre_queue *target; /* stayed in (gyre_queue_stay) until `ended` */
    char kernel[64];
    struct gyre_region region; /* its clients' control region */
    gyre_control_region *control;
    uint64_t return_ns; /* how long completions wait for a client with a name */

    pthread_mutex_t lock;
    pthread_cond_t changed; /* something of a ring was completed, or is durable, or the end */
    struct gyre_relay_ring *rings;
    struct gyre_relay_name *names;
    struct gyre_relay_place *places;    /* one for each slot of the target */
    uint64_t oldest;                    /* no place below is in use */
    uint64_t given_end;                 /* no place below waits for its completion to go to a ring */
    uint64_t turns;                     /* of the thread */
    uint64_t absent;                    /* places in use whose client is not there */
    struct gyre_logged_request request; /* what is being copied, where that is one */
    unsigned char *batch;               /* else payloads, one behind the other, ... */
    gyre_header *batch_headers;         /* ... and their headers; NULL: messages have none */
    uint64_t batch_most;                /* so many */
    bool held;                          /* the thread's: one of its clients' requests found no room */
    uint64_t last_word_ns;              /* until when the end waits for the journal; 0: it does not yet */
    bool ended;                         /* the target is closed and not looked at any more */
    uint64_t serial;                    /* of clients without a name */
    pthread_t thread;
    uint32_t stop; /* atomic */
};

/** A ring for a client of queue [queue.SECTION] of the kernel, which gyre_kernel_relays. */
gyre_status gyre_relay_join(struct gyre_server *server, gyre_kernel *kernel, const char *section,
                            const struct gyre_attach_request *request, struct gyre_queue_options *options,
                            struct gyre_relay_ring **out);
/** Its client rang. */
void gyre_relay_wake(struct gyre_relay_ring *ring);
/**
 * Takes it off, once what was taken of it is completed, or at the deadline. Whether it is: then what is left
 * in the ring was not handled and is completed so. The ring is still to be released.
 */
bool gyre_relay_leave(struct gyre_relay_ring *ring, uint64_t deadline_ns);
void gyre_relay_release(struct gyre_relay_ring *ring);
/** Ends all of a server's, which has no client any more. */
void gyre_relays_end(struct gyre_server *server);

/**
 * Gives rings the completions that are there, up to the first one that is not or, `whole`, all; then places are
 * given back as far as nothing waits for them. Whether anything happened. relay_back.c, as below.
 */
bool gyre_relay_carry_back(struct gyre_relay *relay, bool whole);

/* relay_ring.c: under the lock, by the relay's thread unless it says otherwise. */

/** Makes room for the requests that are being copied. EXHAUSTED; what there is, is freed by its owner. */
gyre_status gyre_relay_make_room(struct gyre_relay *relay);
void gyre_relay_free_room(struct gyre_relay *relay);

/** The ring for a client of that number (0: without a name), in the relay's list, with what an earlier one of
 * its name left, which the options say then. By a session. `answered`: of gyre_attach_request. INCOMPATIBLE for a
 * client whose answered requests the queue's journal does not know. */
gyre_status gyre_relay_ring_create(struct gyre_relay *relay, struct gyre_queue_options *options,
                                   uint64_t client, uint64_t answered, struct gyre_relay_ring **out);
/** Its client left: the next one of its name goes on with its numbers. By a session. */
void gyre_relay_ring_note_leave(struct gyre_relay *relay, const struct gyre_relay_ring *ring);
/** Carries over what its client sent, as far as there is room; how many. */
uint64_t gyre_relay_take(struct gyre_relay *relay, struct gyre_relay_ring *ring);
/** The completion of the queue's request `index`, of that place, to its client. */
void gyre_relay_give(const struct gyre_relay *relay, uint64_t index, struct gyre_relay_place *place);
/** Tells how far its requests have come; whether anything is new. */
bool gyre_relay_promise(const struct gyre_relay *relay, struct gyre_relay_ring *ring);
/** Wakes its client if there is anything. */
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
