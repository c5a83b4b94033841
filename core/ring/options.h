/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How to make a queue: one description, of which each of the three layers (ring, queue, stages) reads its own part. The
 * kernel decides and checks everything before; no layer fills in defaults.
 */
#ifndef GYRE_CORE_RING_OPTIONS_H
#define GYRE_CORE_RING_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/types/types.h"
#include "gyre/gyre.h"
#include "gyre/ring_layout.h"

/** The types of both sides, for types with tails when one side has fields appended; else NULL. Owned. */
struct gyre_queue_growth {
    gyre_layout *callers, *kernels;
};

struct gyre_queue_options {
    const char *name; /* copied */
    uint64_t capacity;
    uint32_t request_size, reply_size; /* largest payloads */
    uint32_t request_least;            /* a request with an empty tail; 0: requests have no tails */
    uint32_t reply_least;              /* the same for replies */
    uint32_t caller_request_size, caller_reply_size; /* the caller's types', if they differ, else 0 */
    uint32_t reply_room; /* with packets: bytes that a caller must have room for */
    uint32_t wire;       /* not 0: messages are packets, of which callers see the bytes (convert.c) */
    struct gyre_queue_growth request_growth, reply_growth; /* the queue's once it was made */
    gyre_full_policy policy;
    gyre_idle_strategy idle;
    uint32_t spin_turns;
    uint64_t first_sequence;
    bool many_threads;
    bool device_wakes;   /* the device rings bells; else waits poll with short sleeps */
    bool device_returns; /* a device that died is replaced: waits go on although it says that it is lost */
    bool device_parks;   /* its workers park at once: sends fence */
    bool device_lies; /* it is another process, which may write completions of requests that were not sent */
    bool timed;       /* the kernel was compiled to say when it handles messages */
    uint32_t header_size; /* bytes of each request's header; 0: none */
    /* Messages with tails are stored back to back, in rings of so many `bytes` (0: as fits), the replies in
     * one for each of the device's `tracks`. */
    bool bridged_requests, bridged_replies;
    uint64_t bytes;
    uint32_t tracks;
    /* there are express lines (express.h) */
    bool express, express_replies;
    uint32_t request_type;        /* the type of messages whose sender's header names none */
    uint64_t ttl_ns;              /* after which a message that no handler took up is taken back; 0: never */
    uint64_t dead_letters;        /* the most that are kept */
    uint32_t dedup;               /* how many ids are remembered; 0: none */
    uint32_t levels;              /* levels of priority; 1: messages go in the order of the sends */
    uint64_t age_ns;              /* after which a message rises a level */
    uint64_t window;              /* messages in the ring at once, of queues with levels */
    bool any_order;               /* receivers take any completion that is there */
    bool sealed;                  /* messages have checksums */
    gyre_control_region *control; /* the kernel's; outlives the queue */
    bool lent;                    /* its client is another program: see lent.h */
    bool trusted;                 /* that program is trusted: the device handles its messages in place */
    bool passed_on;               /* replies may be passed on to other programs (a relay) */
    /* For a client whose requests are relayed into a queue that keeps them (origin.h). */
    bool tells_covered, tells_durable; /* the server tells how far checkpoints, a journal have come */
    uint64_t left;                     /* so many requests from the first on were sent by an earlier client */
};

#endif
