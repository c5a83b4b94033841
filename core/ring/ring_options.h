/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a queue, for the function that makes it (core/stages/make.h). Each of the three layers (ring, queue,
 * stages) reads its own members. core/plan decides and checks all of them beforehand; no layer fills in defaults.
 */
#ifndef GYRE_CORE_RING_RING_OPTIONS_H
#define GYRE_CORE_RING_RING_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/types/types.h"
#include "gyre/gyre.h"
#include "gyre/ring_layout.h"

/** The layouts of the caller's and the kernel's type, for types with tails when one side has fields appended; else both
 * NULL. The struct owns them. */
struct gyre_queue_growth {
    gyre_layout *callers, *kernels;
};

struct gyre_queue_options {
    const char *name; /* copied */
    uint64_t capacity;
    uint32_t request_size, reply_size; /* largest payloads */
    uint32_t request_least;            /* a request with an empty tail; 0: requests have no tails */
    uint32_t reply_least;              /* the same for replies */
    uint32_t caller_request_size, caller_reply_size; /* sizes of the caller's types; 0: as the kernel's */
    uint32_t reply_room; /* with packets: bytes that a caller must have room for */
    uint32_t wire;       /* not 0: messages are packets (encoded bytes); callers see the bytes (convert.c) */
    struct gyre_queue_growth request_growth, reply_growth; /* the queue owns them once it is made */
    gyre_full_policy policy;
    gyre_idle_strategy idle;
    uint32_t spin_turns;
    uint64_t first_sequence;
    bool many_threads;
    bool device_wakes;    /* the device rings bells; else waits poll with short sleeps */
    bool device_returns;  /* a device that died is replaced: waits go on although it says that it is lost */
    bool device_parks;    /* the device's workers park at once, so each send needs a fence */
    bool device_lies;     /* the device is another process, which may complete requests that were not sent */
    bool timed;           /* the kernel was compiled to tell when a handler began and ended */
    uint32_t timed_every; /* so of messages whose index is a multiple of this power of two; 0 is as 1 */
    bool times_told;      /* the client in another program tells the times of its messages (told_times.h) */
    uint32_t header_size; /* bytes of each request's header; 0: none */
    /* Messages with tails are stored back to back, in rings of `bytes` bytes (0: Gyre chooses). Replies have one such
     * ring for each track; a device with several tracks has one for each block. */
    bool bridged_requests, bridged_replies;
    uint64_t bytes;
    uint32_t tracks;
    /* requests, replies may also go by express lines, copies of lone messages beside the slots (express.h) */
    bool express, express_replies;
    uint32_t request_type; /* the type of a message whose header names no type */
    uint64_t ttl_ns;       /* a message that no handler took up within this time is taken back; 0: never */
    uint64_t dead_letters; /* how many failed messages are kept at most */
    uint32_t dedup;        /* how many message ids are remembered; 0: none */
    uint32_t levels;       /* levels of priority; 1: messages go in the order of the sends */
    uint64_t age_ns;       /* a message that waits this long rises a level */
    uint64_t window;       /* with levels: messages that may be in the ring at once */
    bool any_order;        /* receivers take any completion that is there */
    bool sealed;           /* messages have checksums */
    gyre_control_region *control; /* the kernel's control words; outlive the queue */
    bool lent;                    /* the queue's client is another program: see lent.h */
    bool trusted;                 /* that program is trusted: the device handles its messages in place */
    bool passed_on;               /* replies may be passed on to other programs (a relay) */
    /* For a client whose requests are relayed into a queue that keeps them (origin.h). */
    bool tells_covered, tells_durable; /* the server tells how far checkpoints, and a journal, have come */
    uint64_t left; /* how many requests an earlier client left, from the queue's first index on */
};

#endif
