/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue's links to other programs: to a client that has its ring (lent.h), to programs whose requests are relayed
 * into it (origin.h), and, in a client, to the server. core/attach fills them in.
 */
#ifndef GYRE_CORE_QUEUE_FOREIGN_H
#define GYRE_CORE_QUEUE_FOREIGN_H

#include "core/queue/names.h"
#include "gyre/gyre.h"

struct gyre_queue_foreign {
    struct gyre_lent *lent;            /* NULL: the client is this program */
    struct gyre_queue_origin *origins; /* atomic; NULL: no request came from another program (origin.h) */
    struct gyre_names
        names;     /* constant after creation: where the numbers of clients of earlier lives go on */
    uint64_t left; /* so many requests, from the first on, were sent by an earlier client */
    bool tells_covered,
        tells_durable; /* a server tells how far checkpoints, a journal have come (origin.h) */
    int doorbell;      /* -1, or an eventfd: another program rings the kernel's doorbell for it */
    void (*detach)(gyre_queue *queue); /* closes a queue that no kernel of this program has; else NULL */
    void *attachment;                  /* for `detach` and `said` */
    /* While state.away: the sentence with which the server there refuses this client; an empty text when no server is
     * there. From any thread. NULL: nobody can say. */
    void (*said)(const gyre_queue *queue, char *text, size_t size);
};

#endif
