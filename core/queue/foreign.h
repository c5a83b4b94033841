/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a queue's links to other programs: to a client that uses its ring (lent.h), to programs whose requests are relayed
 * into it (origin.h), and, in a client, to the program that serves it. core/attach fills them in.
 */
#ifndef GYRE_CORE_QUEUE_FOREIGN_H
#define GYRE_CORE_QUEUE_FOREIGN_H

#include "core/queue/names.h"
#include "gyre/gyre.h"

struct gyre_queue_foreign {
    struct gyre_lent *lent;            /* NULL: the client is this program */
    struct gyre_queue_origin *origins; /* atomic; NULL: no request came from another program (origin.h) */
    struct gyre_names
        names; /* constant after creation: each named client of earlier runs, and its next request's number */
    uint64_t left; /* how many requests an earlier client left, from the queue's first index on */
    bool tells_covered,
        tells_durable; /* the server tells how far checkpoints, and a journal, have come (origin.h) */
    int doorbell;      /* an eventfd: another program reads it and rings the kernel's doorbell; or -1 */
    void (*detach)(gyre_queue *queue); /* closes a queue that no kernel of this program has; else NULL */
    void *attachment;                  /* for `detach` and `said` */
    /* Writes why the queue still waits for its next server (state.away): the sentence with which a server refuses this
     * client, or "" when no server is there. Any thread. NULL: this queue never waits for another server. */
    void (*said)(const gyre_queue *queue, char *text, size_t size);
};

#endif
