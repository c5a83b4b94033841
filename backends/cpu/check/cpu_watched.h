/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of checks (backend.cpu.check): what the backend keeps of a device's messages.
 *
 * One message of the device is handled at a time: a worker holds the lock of cpu_checks from a message's begin to its
 * end. What could run at the same time follows from the order of messages, not from threads, so a finding does not
 * depend on the machine's load.
 */
#ifndef GYRE_CPU_WATCHED_H
#define GYRE_CPU_WATCHED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "backends/cpu/check/cpu_shadow.h"
#include "backends/cpu/check/cpu_stale.h"
#include "backends/cpu/check/cpu_touch.h"
#include "backends/cpu/check/cpu_traffic.h"

/**
 * An emitted message that was not received yet, and which of its bytes its sender wrote. It is forgotten when another one needs its place.
 */
struct cpu_sent {
    const unsigned char *at; /* NULL: none */
    uint64_t message;        /* the sender's */
    const void *code;        /* of the sender's latest write to it */
    uint64_t size, room;
    unsigned char *written; /* a byte each, not 0 where it was written */
};

enum { CPU_SENT_MAX = 4096 };

enum { CPU_HANDLED_MAX = 65536, CPU_PLACES_MAX = 64, CPU_PAIRS_MAX = 256 };

/** A message that was handled: for the sentence about a race with a later message. */
struct cpu_handled {
    uint64_t message;
    uint32_t block;
    const struct cpu_worker *worker;
    char kernel[48];
};

/** A read of bytes that no lane had written, which is told when one writes them after all, or when the lanes have ended. */
struct cpu_unwritten {
    struct cpu_touch touch; /* its range is `range`; code NULL: nothing is to be told */
    gyre_cpu_range range;
    uint64_t first; /* the place of the bytes in `written` */
    uint32_t lane;
};

/** When the process of a device ends. */
struct cpu_crash {
    uint64_t message; /* the number of the message; 0: it does not end */
    uint64_t step;    /* of the message: 0 is its begin, then its accesses; its end where it has fewer */
    uint64_t taken;   /* accesses of the message until now */
};

/** A device's checks. Everything is guarded by the lock. */
struct cpu_checks {
    pthread_mutex_t lock;
    uint64_t messages;           /* the number of the latest message; the first is 1 */
    struct cpu_traffic *traffic; /* NULL: the check `traffic` is off */
    struct cpu_crash crash;
    struct cpu_sent *sent;                       /* by address; NULL: the check `memory` is off */
    struct cpu_stale *stale;                     /* NULL: loads find the latest values */
    struct cpu_shadow shared;                    /* state and buffers, by address */
    struct cpu_handled handled[CPU_HANDLED_MAX]; /* by number */
    /* findings that the log has: the two instructions of each */
    const void *pairs[CPU_PAIRS_MAX][2];
    uint32_t pair_count;
    /* places of instructions that were asked for already, replaced in turn */
    struct {
        const void *code;
        char place[320];
    } places[CPU_PLACES_MAX];
    uint32_t place_turn;
    char said[4096], sentence[8192]; /* of the finding that is told; here because lanes have small stacks */
};

/** A worker's part. */
struct cpu_watched {
    struct cpu_shadow own; /* reply and scratch, by sort and offset */
    uint64_t message;      /* the message that is handled; 0: none */
    uint64_t first;        /* its number in its first call (GYRE_MORE) */
    uint64_t since;        /* the first message that is not ordered before this one */
    uint64_t seen_since;   /* `since` of the next messages; 0: not known, so all are ordered before */
    uint64_t last;         /* the latest message of this worker */
    bool asks_block;       /* its handler asked for the number of the block */
    bool has_left;         /* a lane left its handler by an index out of range */
    const void *request;
    uint64_t request_size;
    unsigned char
        *written; /* not 0 for each written byte of the reply, then of the scratch; NULL: not watched */
    unsigned char
        *received; /* the same of the request, when a handler emitted it; it is `received_size` long */
    uint64_t received_size, received_room; /* 0: nothing is known of the request */
    uint64_t sender;                       /* the message whose handler emitted it */
    const void *sender_code;               /* where it wrote to it last */
    struct cpu_unwritten unwritten;        /* of the scratch, in this run */
    uint64_t scratch_first;                /* where the scratch begins in it */
    uint64_t written_size;
    const void **latest; /* each lane's latest access in this run; NULL: the lanes share no message */
    const void **more;   /* where each lane asked for another call in this run; NULL: it did not */
    uint64_t seed;       /* of the run; 0: lanes run in their order */
    struct cpu_explored *explored; /* for the check `schedule`; NULL: none */
    struct cpu_stuck *stuck;       /* for the checks `schedule` and `deadlock` together; NULL: none */
    char text[96];                 /* the first finding of the message; "": none yet */
};

#endif
