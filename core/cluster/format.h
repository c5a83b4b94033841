/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What members and clients keep in a transport: records `app`, `member.NAME`, `place.SHARD`, `offer.SHARD`, `orders`, and logs `in.SHARD`,
 * `out.CLIENT`, `state.SHARD`, `dead.SHARD`. Each begins with a head (core/transport/block.h). What is read is foreign: the functions here check it before anything
 * uses it, in a copy that nobody else writes. Pure functions over bytes.
 */
#ifndef GYRE_CORE_CLUSTER_FORMAT_H
#define GYRE_CORE_CLUSTER_FORMAT_H

#include <stdbool.h>

#include "core/transport/block.h"
#include "gyre/transport.h"

enum {
    GYRE_SHARDS_MAX = 4096,
    GYRE_MEMBER_NAME_MAX = 64, /* with the NUL */
    GYRE_CLIENT_ID_SIZE = 16,
    GYRE_CLUSTER_MESSAGE_MAX = 128 * 1024, /* bytes of a request or a reply */
    GYRE_CLUSTER_NAME_SIZE = 128,          /* room for a name of a log or record */
    GYRE_ORDERS_MAX = 200                  /* they fit into a record */
};

struct gyre_cluster_app {
    struct gyre_block_head head;
    uint32_t shards, reserved;
    uint64_t request, reply, state; /* hashes of the types */
    uint64_t lease_ns;              /* how long a member that says nothing keeps its shards */
    uint64_t table_size;            /* bytes of a shard's table of keys */
    char kernel[64], key[128];      /* texts with a NUL */
};

enum gyre_member_state {
    GYRE_MEMBER_HERE = 1,
    GYRE_MEMBER_LEAVING = 2,
    GYRE_MEMBER_GONE = 3,
    GYRE_MEMBER_DRAINED = 4 /* by order: it gives its shards away, and takes none */
};

struct gyre_cluster_member {
    struct gyre_block_head head;
    uint64_t incarnation, beats;
    uint32_t weight, owned, state, reserved;
    char name[GYRE_MEMBER_NAME_MAX];
};

/** Where the owner of an epoch was careful (trial.h). */
struct gyre_cluster_trial {
    uint64_t block, request; /* of in.SHARD; the number of the request in it that is handled alone; 0: none */
    uint64_t epoch;          /* of the owner that wrote the mark */
    uint64_t missed;         /* owners that died since without having come so far */
    uint64_t deaths, alone;  /* owners that died in the block, and of those at the request */
};

struct gyre_cluster_place {
    struct gyre_block_head head;
    uint64_t epoch;
    uint64_t
        incarnation;  /* of the owner; without an owner: of the member that could not take the shard, or 0 */
    uint64_t is_kept; /* 1: the log of states has a checkpoint, from then on for ever */
    char owner[GYRE_MEMBER_NAME_MAX]; /* "": nobody */
    struct gyre_cluster_trial trial;
    /* of a hand-over in order; 0: the shard was taken otherwise */
    uint64_t closing_ns; /* how long the owner before took to give the shard back */
    uint64_t pause_ns;   /* how long its requests waited; 0: the owner did not begin yet */
    uint64_t works;      /* 1: the owner launched its kernel, with the states, and handles requests */
    uint64_t
        handled; /* while the owner hands over: all replies to blocks of in.SHARD up to this one are published, and none of these requests was given up; 0: it does not say */
};

enum gyre_offer_state {
    GYRE_OFFER_READY = 1,    /* the kernel is launched, and the member waits for the shard */
    GYRE_OFFER_FAILED = 2,   /* the member cannot take it */
    GYRE_OFFER_WITHDRAWN = 3 /* it does not wait any more */
};

struct gyre_cluster_offer {
    struct gyre_block_head head;
    uint64_t epoch;       /* of the place that it is about */
    uint64_t incarnation; /* of the member */
    uint32_t state;
    uint32_t
        loaded; /* of READY: the number of the checkpoint that its kernel has, the lower half; UINT32_MAX: none yet; 0: it does not say */
    char member[GYRE_MEMBER_NAME_MAX];
    char why[256]; /* of FAILED: a sentence */
    uint64_t
        followed; /* of READY: its kernel has the effect of all blocks of in.SHARD up to this one; 0: it does not follow yet */
};

enum gyre_order_kind { GYRE_ORDER_DRAIN = 1, GYRE_ORDER_SHARD = 2 };

struct gyre_cluster_order {
    uint32_t kind, shard;              /* shard: of GYRE_ORDER_SHARD */
    char member[GYRE_MEMBER_NAME_MAX]; /* that is to be drained, or to have the shard */
};

struct gyre_cluster_orders { /* then `count` times struct gyre_cluster_order */
    struct gyre_block_head head;
    uint32_t count, reserved;
};

struct gyre_cluster_requests { /* then `count` times struct gyre_cluster_message and the message */
    struct gyre_block_head head;
    unsigned char client[GYRE_CLIENT_ID_SIZE];
    uint64_t
        first; /* the number of the first request, of those of the client to this shard; counted from 1 */
    uint32_t count;
    uint32_t
        unsettled; /* so many of those before it may still be missing: they come again then, and this block behind them */
};

struct
    gyre_cluster_replies { /* then `count` times struct gyre_cluster_message and the reply, or the text of a failure */
    struct gyre_block_head head;
    uint32_t shard, count;
};

struct gyre_cluster_message { /* the bytes behind it are filled up to a multiple of 8 */
    uint32_t length, outcome; /* outcome and code: of replies */
    int32_t code;
    uint32_t
        unsettled; /* of the first reply of a block: so many of those before it may still be missing, and come again then */
    uint64_t number; /* of replies: that of the request */
};

struct gyre_cluster_fence {
    struct gyre_block_head head;
    uint64_t epoch, incarnation;
    char owner[GYRE_MEMBER_NAME_MAX];
};

/** The blocks of a checkpoint begin alike. */
struct gyre_cluster_piece {
    struct gyre_block_head head;
    uint64_t epoch, checkpoint; /* the checkpoint's number, which grows */
    uint64_t offset, length; /* BYTES: of the table. CLIENTS: `length` bytes of struct gyre_cluster_caller */
};

/** A client that a shard knows, so that a request that comes twice is handled once. */
struct gyre_cluster_caller {
    unsigned char client[GYRE_CLIENT_ID_SIZE];
    uint64_t number;   /* of its last request */
    uint64_t position; /* the block of in.SHARD that it was in */
};

struct gyre_cluster_commit {
    struct gyre_block_head head;
    uint64_t epoch, checkpoint;
    uint64_t position; /* the checkpoint has the effect of all blocks of in.SHARD up to this one */
    uint64_t table_size, pieces;
    uint64_t is_whole; /* 1: the table was zeros before the pieces; 0: that of the checkpoint before */
};

/** A request that is not handled any more, and then its `length` bytes. Earlier members wrote no more than the first of them. */
struct gyre_cluster_letter {
    struct gyre_block_head head;
    unsigned char client[GYRE_CLIENT_ID_SIZE];
    uint64_t number, position; /* of the request, and of its block in in.SHARD */
    uint64_t epoch, deaths;    /* of the owner that gave it up; owners that died */
    uint64_t length;
    uint64_t at_ns; /* when, by the clock of the day of the member that gave it up; 0: not known */
    char owner[GYRE_MEMBER_NAME_MAX]; /* that member */
};

/** A walk over the messages of a block that was checked. */
struct gyre_cluster_walk {
    const unsigned char *bytes;
    size_t size, at;
    uint32_t left;
    struct gyre_cluster_message message;
    const unsigned char *contents; /* message.length bytes, aligned to 8 if the block is */
};

/** Checks a block of requests or replies and begins a walk. INCOMPATIBLE. */
gyre_status gyre_cluster_requests_open(const void *block, size_t size, const char *where,
                                       struct gyre_cluster_requests *out, struct gyre_cluster_walk *walk);
gyre_status gyre_cluster_replies_open(const void *block, size_t size, const char *where,
                                      struct gyre_cluster_replies *out, struct gyre_cluster_walk *walk);
/** Of a block of replies that was checked: the number up to which all replies of the shard to the client came before it, or never come. */
uint64_t gyre_cluster_replies_settled(const void *block, const struct gyre_cluster_replies *head);
/** Says in a block of replies, which is sealed afterwards, how many of those before it may still be missing. */
void gyre_cluster_replies_set_unsettled(void *block, uint32_t unsettled);
/** Whether a block of requests is passed over as a whole: those before it are missing behind `number`, and come again, and so does it. */
bool gyre_cluster_requests_come_again(const struct gyre_cluster_requests *head, uint64_t number);
/** Checks a dead letter; *contents (may be NULL) are its out->length bytes in the block. INCOMPATIBLE. */
gyre_status gyre_cluster_letter_open(const void *block, size_t size, const char *where,
                                     struct gyre_cluster_letter *out, const unsigned char **contents);
/** The next message; false at the end. The contents lie in the block. */
bool gyre_cluster_walk_next(struct gyre_cluster_walk *walk);
/** Bytes that a message of that length takes in a block. */
static inline size_t gyre_cluster_message_room(size_t length)
{
    return sizeof(struct gyre_cluster_message) + (length + 7) / 8 * 8;
}
/** Adds a message at `at` of a block, which has room; returns the place behind it. */
size_t gyre_cluster_message_add(unsigned char *block, size_t at, const struct gyre_cluster_message *message,
                                const void *contents);

/** Whether a text of a record that was read ends within its room, and may be a name. "" is fine where `or_none`. */
bool gyre_cluster_text_is_name(const char *text, size_t room, bool or_none);

/** Names of logs and records. */
const char *gyre_cluster_shard_name(char name[GYRE_CLUSTER_NAME_SIZE], const char *what, uint32_t shard);
const char *gyre_cluster_client_name(char name[GYRE_CLUSTER_NAME_SIZE],
                                     const unsigned char client[GYRE_CLIENT_ID_SIZE]);

#endif
