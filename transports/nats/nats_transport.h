/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of the NATS transport. Logs are subjects GYRE.APP.log.NAME of the stream GYRE_APP, and the number of a block is its sequence
 * in the stream. Records are subjects GYRE.APP.record.NAME of the stream GYRE_APP_records, which keeps the last message of each, and the
 * revision is its sequence. Whoever waits for a log is pushed its blocks: by a subscription to what the stream's leader publishes once more, or by a
 * consumer without a name (nats_follow.c).
 */
#ifndef GYRE_NATS_TRANSPORT_H
#define GYRE_NATS_TRANSPORT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include <nats/nats.h>

#include "gyre/transport.h"

enum { NATS_SUBJECT_SIZE = 256, NATS_STREAM_SIZE = 64, NATS_LISTS = 1024 };

/** A log whose blocks the server pushes (nats_follow.c). */
typedef struct nats_follower {
    struct nats_follower *following; /* under the link's mutex */
    pthread_mutex_t mutex;           /* for everything below */
    natsSubscription *subscription;
    natsMsg *ahead;        /* the next block, which was not read yet; NULL: none is at hand */
    uint64_t ahead_number; /* and its number, */
    uint64_t ahead_last;   /* and that of the block before it, if hears_again */
    uint64_t passed;       /* what is behind this number comes by the subscription */
    uint64_t count;        /* blocks that were pushed */
    uint64_t used_ns;
    uint64_t behind, behind_ns; /* a block that was found otherwise, and when */
    bool hears_again;           /* what the leader publishes once more; otherwise it has a consumer */
    bool is_level;              /* its consumer had nothing left */
    uint64_t made_ns, look_ns;  /* since when it subscribes, and how long after that the reader asks */
    uint64_t connections;       /* of the link then */
    uint64_t asked;             /* blocks that the reader asked for, one after the other */
    uint64_t gap_after, gap_ns; /* what is behind this number is missing, since when */
    char name[GYRE_TRANSPORT_NAME_MAX + 1];
} nats_follower;

/** Where acknowledgements of blocks come that were published together (nats_each.c). */
typedef struct gyre_transport_ticket {
    struct gyre_transport_ticket *following;
    natsSubscription *subscription;
    natsInbox *inbox;
    uint64_t first, next;          /* numbers of the calls */
    gyre_transport_entry *entries; /* that are under way: `count`, */
    size_t count, awaited;         /* of which so many are not answered yet, */
    uint64_t until_ns;             /* and are given up then */
} nats_ear;

struct gyre_transport_link {
    const gyre_host *host;
    natsOptions *options;
    natsConnection *connection;
    jsCtx *jetstream;
    int64_t reach_ms;
    char app[GYRE_TRANSPORT_NAME_MAX + 1];
    char logs[NATS_STREAM_SIZE], records[NATS_STREAM_SIZE]; /* names of the streams */
    char *url;   /* of [cluster]: one server, or several, separated by commas */
    char *shown; /* the same without passwords, for sentences */
    pthread_mutex_t mutex;
    nats_follower *followers[NATS_LISTS]; /* by the hash of the name; these four under the mutex */
    nats_follower *gone;                  /* nobody finds these any more; since used_ns */
    uint64_t swept_ns;
    nats_ear *ears;
    uint64_t rests_until_ns;  /* atomic: no consumer is made before */
    uint64_t doubts_until_ns; /* atomic: consumers alone are made before */
    uint64_t connections;     /* atomic: how often the connection was made anew */
    char again
        [NATS_SUBJECT_SIZE]; /* the subject of blocks that are published once more, without the log's name; empty: none are */
};

/* nats_open.c */
gyre_status nats_open(const gyre_transport_desc *desc, gyre_transport_link **out);
void nats_close(gyre_transport_link *link);

/* nats_status.c */
/**
 * The status for a failed call, with a sentence that has the server's or the library's words. `unknown`: what a lost connection means,
 * TIMEOUT for a call that may have taken place.
 */
gyre_status nats_failed(const gyre_transport_link *link, natsStatus status, jsErrCode error,
                        gyre_status unknown, const char *what, const char *name);
/** Writes and returns a subject of the app. */
const char *nats_subject(const gyre_transport_link *link, char subject[NATS_SUBJECT_SIZE], const char *kind,
                         const char *name);

/* nats_log.c */
gyre_status nats_append(gyre_transport_link *link, const char *log, const gyre_transport_block *block,
                        uint64_t *number);
gyre_status nats_read(gyre_transport_link *link, const char *log, uint64_t after, void *bytes, size_t room,
                      size_t *byte_count, uint64_t *number);
gyre_status nats_last(gyre_transport_link *link, const char *log, uint64_t *number);
gyre_status nats_purge(gyre_transport_link *link, const char *log, uint64_t below);
/** Copies a message. INVALID when it has more than `room` bytes. */
gyre_status nats_copy(const gyre_transport_link *link, const natsMsg *message, const char *name, void *bytes,
                      size_t room, size_t *byte_count);

/* nats_each.c */
void nats_append_each(gyre_transport_link *link, gyre_transport_entry *entries, size_t count);
gyre_status nats_append_begin(gyre_transport_link *link, gyre_transport_entry *entries, size_t count,
                              gyre_transport_ticket **ticket);
gyre_status nats_append_finish(gyre_transport_link *link, gyre_transport_ticket *ticket,
                               uint64_t deadline_ns);
void nats_append_drop(gyre_transport_link *link, gyre_transport_ticket *ticket);
void nats_ears_close(gyre_transport_link *link);

/* nats_follow.c */
gyre_status nats_wait(gyre_transport_link *link, const char *log, uint64_t after, uint64_t deadline_ns);
/** Reads a block that the server pushed. AGAIN: the first one behind `after` is not at hand, which says nothing about the log. */
gyre_status nats_follow_read(gyre_transport_link *link, const char *log, uint64_t after, void *bytes,
                             size_t room, size_t *byte_count, uint64_t *number);
/** Says that the server has a block which nats_follow_read has not got. */
void nats_follow_found(gyre_transport_link *link, const char *log, uint64_t number);
void nats_followers_close(gyre_transport_link *link);

/* nats_record.c */
gyre_status nats_record_get(gyre_transport_link *link, const char *name, void *bytes, size_t room,
                            size_t *byte_count, uint64_t *revision);
gyre_status nats_record_put(gyre_transport_link *link, const char *name, const void *bytes, size_t byte_count,
                            uint64_t expected, uint64_t *revision);
gyre_status nats_record_list(gyre_transport_link *link, const char *prefix,
                             int (*each)(void *context, const char *name), void *context);

#endif
