/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of a cluster. It numbers its requests to each shard from 1 on, one block after the other, so the shard's owner knows those that
 * come twice; and a shard's replies come in that order, so the client knows replies that come twice.
 *
 * Lock: `lock`, for everything. It is held while a block is appended, and again until the deadline where that fails; it is given up while a
 * caller waits for replies.
 */
#ifndef GYRE_CORE_CLUSTER_CLIENT_H
#define GYRE_CORE_CLUSTER_CLIENT_H

#include <pthread.h>

#include "core/cluster/app.h"
#include "core/cluster/reading.h"
#include "core/device/runtime.h"
#include "core/types/key.h"
#include "gyre/cluster.h"

enum {
    GYRE_CLIENT_UNANSWERED_MAX = 65536, /* requests of a client that are unanswered */
    GYRE_CLIENT_BLOCK_MAX = 256 * 1024, /* bytes of a block of requests */
    GYRE_CLIENT_ROUND_MAX = 32,         /* blocks, of different shards, that are under way at once */
    GYRE_CLIENT_ROUND_BYTES = 1 << 20   /* and their bytes, with room for one more */
};

/** The requests of a client to one shard. */
struct gyre_client_shard {
    uint64_t next;     /* the number of the next request */
    uint64_t answered; /* the number of the last one whose reply came */
    uint64_t *
        indices; /* of the unanswered ones, as gyre_cluster_send gave them: a ring with `room` places, a power of two, by number */
    uint64_t room;
    struct gyre_client_way *oldest,
        *latest; /* blocks that may be in the log or not: they go first, whatever else is sent; NULL: none */
    uint32_t ahead;       /* so many */
    uint64_t kept_number; /* the transport's number of the last block that is known to be there */
    bool repeats;         /* the oldest one, and all behind it, are appended again, one after the other */
    bool is_listed;       /* among those that are unsettled */
    bool
        is_unknown; /* there was no memory to keep such a block: nobody can say any more what the shard has */
    uint32_t first_unsent,
        last_unsent; /* while a batch is sent: places of its requests to this shard; counted from 1, 0: none */
};

/** A completion that is kept for another caller. */
struct gyre_client_reply {
    struct gyre_client_reply *next;
    gyre_completion completion;
    unsigned char bytes[];
};

struct gyre_cluster {
    gyre_runtime *runtime;
    struct gyre_transport *transport;
    struct gyre_cluster_app app;
    struct gyre_message_key key;
    unsigned char id[GYRE_CLIENT_ID_SIZE];
    char log[GYRE_CLUSTER_NAME_SIZE]; /* out.CLIENT */
    uint64_t least, request_size;     /* bytes of the shortest and of the longest request */

    pthread_mutex_t lock;
    struct gyre_client_shard *shards;
    bool goes_ahead;          /* blocks may be under way when sending returns; constant */
    uint32_t *unsettled;      /* the shards that have an uncertain block, each once, */
    uint32_t unsettled_count; /* and perhaps some that have none any more */
    uint64_t next_index, unanswered;
    unsigned char *blocks;  /* that are being built: a round's */
    unsigned char *replies; /* the block of replies that is being read */
    struct gyre_cluster_replies head;
    uint64_t settled; /* of that block (format.h) */
    struct gyre_cluster_walk walk;
    uint64_t position;   /* the last block that was read */
    uint64_t read_count; /* blocks since the last purge */
    struct gyre_reading reading;
    struct gyre_client_reply *kept, **kept_end;
};

/** Looks what became of uncertain blocks, and appends them again. OK: all are there. TIMEOUT, or another failure: some are not until the deadline. Under the lock. */
gyre_status gyre_client_settle(struct gyre_cluster *cluster, uint64_t deadline_ns);
/** Forgets the uncertain blocks, whatever becomes of them. */
void gyre_client_drop(struct gyre_cluster *cluster);

#endif
