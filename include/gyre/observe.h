/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of an observation file: what a process that launched kernels says of itself, for tools that read it from outside.
 *
 * The file lies in $XDG_RUNTIME_DIR/gyre, else in /dev/shm/gyre-UID, under the name PID-START.obs. START is the start time of
 * the process in /proc/PID/stat. Its writer holds a lock on it (flock) for as long as the writer lives, and removes the file at
 * its end; a file without a lock is what a dead process left.
 *
 * A reader copies the file and believes nothing of it: each offset, count, number and text is checked in the copy. All numbers
 * are in the byte order of the machine. All times are nanoseconds of CLOCK_MONOTONIC, unless a name ends in _real_ns.
 *
 * The file is a head and parts. The head says where each part lies, how many entries it has and how far they are apart
 * (`stride`). A later version may add parts, and members at the end of the head and of entries: a reader skips parts that it does
 * not know, and bytes of an entry behind those that it knows. It takes absent members as 0.
 */
#ifndef GYRE_OBSERVE_H
#define GYRE_OBSERVE_H

#include <stdint.h>

/** The first 8 bytes of the file: "GYREOBS1" where the least significant byte comes first. */
#define GYRE_OBSERVE_MAGIC UINT64_C(0x3153424f45525947)

enum {
    GYRE_OBSERVE_VERSION = 1, /* grows when an earlier reader would misread the file */
    GYRE_OBSERVE_PARTS_MAX = 16,
    GYRE_OBSERVE_WORDS = 32, /* values of a record */
    GYRE_OBSERVE_NAME_MAX = 64,
    GYRE_OBSERVE_DETAIL_MAX = 128
};

enum gyre_observe_part_kind {
    GYRE_OBSERVE_RECORDS = 1,    /* gyre_observe_record; entry 0 is never used, so that 0 means "none" */
    GYRE_OBSERVE_VALUES = 2,     /* GYRE_OBSERVE_WORDS words for each record: see gyre_observe_..._word */
    GYRE_OBSERVE_TROUBLES = 3,   /* gyre_observe_trouble */
    GYRE_OBSERVE_EVENTS = 4,     /* gyre_observe_event, a ring: event N is entry N modulo `count` */
    GYRE_OBSERVE_HISTOGRAMS = 5, /* gyre_observe_histogram */
    GYRE_OBSERVE_TRACE = 6,      /* gyre_observe_span, a ring: span N is entry N - 1 modulo `count` */
    GYRE_OBSERVE_BLOCKS = 7      /* gyre_observe_block; those of a kernel follow each other */
};

typedef struct gyre_observe_part {
    uint32_t kind, stride;
    uint64_t offset, count;
} gyre_observe_part;

typedef struct gyre_observe_head {
    uint64_t magic;
    uint32_t version; /* stored last; 0: the file is being made */
    uint32_t head_size, part_count;
    uint32_t pid;
    uint64_t process_start; /* as /proc/PID/stat says it */
    uint64_t started_ns, started_real_ns;
    uint64_t every_ns;                /* how far two looks of the writer are apart */
    uint64_t alive_ns, alive_real_ns; /* the last look at all objects */
    uint64_t looks;
    uint64_t events;           /* how many events there were; the last `count` of them are kept */
    uint64_t records_refused;  /* records and histograms that found no place at the last look */
    uint64_t troubles_refused; /* how often a sentence found none */
    char program[GYRE_OBSERVE_NAME_MAX], release[32]; /* the program's name; the version of Gyre */
    gyre_observe_part parts[GYRE_OBSERVE_PARTS_MAX];
    uint64_t trace_ns; /* since when the process writes spans; 0: it writes none now */
    uint64_t spans;    /* as the last look counted them: spans that were written, */
    uint64_t
        spans_lost; /* and those whose place was still being written by a thread that had stood for a whole lap */
} gyre_observe_head;

enum gyre_observe_kind {
    GYRE_OBSERVE_FREE = 0,
    GYRE_OBSERVE_RUNTIME = 1,
    GYRE_OBSERVE_DEVICE = 2, /* name: the backend; detail: the device */
    GYRE_OBSERVE_KERNEL = 3, /* detail: the types of requests and replies */
    GYRE_OBSERVE_QUEUE =
        4, /* one without a name is called client-N or queue-N; detail: the client, where another program uses the queue */
    GYRE_OBSERVE_PIPELINE = 5,
    GYRE_OBSERVE_LINK = 6 /* parent: the pipeline; detail: the port that it begins at */
};

/** An object of the process. */
typedef struct gyre_observe_record {
    /* Grows with each change of the entry; odd while the entry is written. A reader that copies an entry from its beginning to its
     * end has a whole one when `generation` and `again` are equal and even. */
    uint64_t generation;
    uint32_t kind, parent;      /* enum gyre_observe_kind; the number of another record */
    uint32_t state, device;     /* of a kernel: gyre_kernel_state, and the record of its device */
    uint64_t made_ns, state_ns; /* when the object was made, and when it came into its state */
    char name[GYRE_OBSERVE_NAME_MAX];
    char detail[GYRE_OBSERVE_DETAIL_MAX];
    uint64_t again;
} gyre_observe_record;

/* Word 0 of each record's values is the time of the look that wrote them; 0: no look was taken. Counts only grow while the record
 * is of one object. */

enum gyre_observe_kernel_word {
    GYRE_OBSERVE_KERNEL_HANDLED = 1,
    GYRE_OBSERVE_KERNEL_FAILED,
    GYRE_OBSERVE_KERNEL_QUEUED, /* accepted and not completed, now */
    GYRE_OBSERVE_KERNEL_QUEUES,
    GYRE_OBSERVE_KERNEL_BLOCKS,
    GYRE_OBSERVE_KERNEL_LANES,
    GYRE_OBSERVE_KERNEL_HEALTH, /* gyre_kernel_health */
    GYRE_OBSERVE_KERNEL_RESTARTS,
    GYRE_OBSERVE_KERNEL_CONDEMNED,
    GYRE_OBSERVE_KERNEL_STALLS,
    GYRE_OBSERVE_KERNEL_RELAUNCHES,
    GYRE_OBSERVE_KERNEL_CHECKPOINTS,
    GYRE_OBSERVE_KERNEL_CHECKPOINT_NS, /* of the last one */
    GYRE_OBSERVE_KERNEL_CHECKPOINT_LONGEST_NS,
    GYRE_OBSERVE_KERNEL_REPLAYED,
    GYRE_OBSERVE_KERNEL_ABSENCES,
    GYRE_OBSERVE_KERNEL_ABSENT_NS,
    GYRE_OBSERVE_KERNEL_ABSENT_LONGEST_NS,
    GYRE_OBSERVE_KERNEL_LAUNCHED_NS,
    GYRE_OBSERVE_KERNEL_STANDBY,
    GYRE_OBSERVE_KERNEL_TIMED_EVERY, /* with `timing`: one message of so many is timed; 0: none */
    /* of its queues that are closed since: messages refused and lost, and the look that last found some */
    GYRE_OBSERVE_KERNEL_CLOSED_REFUSED,
    GYRE_OBSERVE_KERNEL_CLOSED_LOST,
    GYRE_OBSERVE_KERNEL_CLOSED_LAST_NS,
    GYRE_OBSERVE_KERNEL_CANARY, /* millionths of the messages, or keys, that go to another handler on trial (gyre_kernel_swap_canary); 0: none is */
    GYRE_OBSERVE_KERNEL_CANARY_HANDLED, /* by that handler, as the last look at the canary counted them, */
    GYRE_OBSERVE_KERNEL_CANARY_FAILED,  /* and those of them that failed; both stay when it has ended */
    GYRE_OBSERVE_KERNEL_WORDS
};

enum gyre_observe_queue_word {
    GYRE_OBSERVE_QUEUE_CAPACITY = 1,
    GYRE_OBSERVE_QUEUE_SENT,
    GYRE_OBSERVE_QUEUE_RECEIVED,
    GYRE_OBSERVE_QUEUE_UNANSWERED, /* sent and not completed by the kernel, now */
    GYRE_OBSERVE_QUEUE_UNRECEIVED, /* completed and not taken by a receiver, now */
    GYRE_OBSERVE_QUEUE_REJECTED,
    GYRE_OBSERVE_QUEUE_DROPPED,
    GYRE_OBSERVE_QUEUE_ABANDONED,
    GYRE_OBSERVE_QUEUE_HIGH_WATER,
    GYRE_OBSERVE_QUEUE_SEND_WAITS,
    GYRE_OBSERVE_QUEUE_RECEIVE_WAITS,
    GYRE_OBSERVE_QUEUE_DUPLICATES,
    GYRE_OBSERVE_QUEUE_WAITING, /* in front of the ring of a queue with levels, now */
    GYRE_OBSERVE_QUEUE_LETTERS,
    GYRE_OBSERVE_QUEUE_LETTERS_LOST,
    GYRE_OBSERVE_QUEUE_TIMED, /* with `timing`: messages, and the sums of their times */
    GYRE_OBSERVE_QUEUE_WAITED_NS,
    GYRE_OBSERVE_QUEUE_HANDLED_NS,
    GYRE_OBSERVE_QUEUE_RETURNED_NS,
    GYRE_OBSERVE_QUEUE_FULL_NS,  /* since when each look found the ring full; 0: it is not */
    GYRE_OBSERVE_QUEUE_STILL_NS, /* since when each look found the same request unanswered; 0: it moves */
    /* the looks that first and last found messages that were refused (REJECTED), or lost (DROPPED and LETTERS) */
    GYRE_OBSERVE_QUEUE_REFUSED_FIRST_NS,
    GYRE_OBSERVE_QUEUE_REFUSED_LAST_NS,
    GYRE_OBSERVE_QUEUE_LOST_FIRST_NS,
    GYRE_OBSERVE_QUEUE_LOST_LAST_NS,
    GYRE_OBSERVE_QUEUE_TIMED_EVERY, /* one message of so many is timed; 0: none */
    GYRE_OBSERVE_QUEUE_KEY,         /* what spans call the queue (gyre_observe_span); 0: none does */
    /* of a queue with a journal: bytes of its file (0: it has none), requests that are not yet as durable as its settings promise, since
     * when each look found that none more became so; 0: it is not behind. The longest group of requests between the last two looks. */
    GYRE_OBSERVE_QUEUE_JOURNAL_BYTES,
    GYRE_OBSERVE_QUEUE_UNSAVED,
    GYRE_OBSERVE_QUEUE_UNSAVED_NS,
    GYRE_OBSERVE_QUEUE_GROUP_NS,
    GYRE_OBSERVE_QUEUE_WORDS
};

/** Of a link; only of devices whose links lie in memory of the process itself. */
enum gyre_observe_link_word {
    GYRE_OBSERVE_LINK_FROM = 1, /* the record of the kernel that sends */
    GYRE_OBSERVE_LINK_TO,       /* that of the kernel that gets the messages; 0: they are thrown away */
    GYRE_OBSERVE_LINK_CAPACITY, /* of all its rings */
    GYRE_OBSERVE_LINK_SENT,
    GYRE_OBSERVE_LINK_WAITING, /* under way, now */
    GYRE_OBSERVE_LINK_MISSED,  /* messages of a topic that the subscriber did not get */
    GYRE_OBSERVE_LINK_CUT,     /* 1: the subscriber was cut off */
    GYRE_OBSERVE_LINK_KEY,     /* what spans call the link; 0: none does */
    GYRE_OBSERVE_LINK_WORDS
};

enum { GYRE_OBSERVE_BUCKETS = 256 };

/**
 * What times of messages a histogram has; of queues of kernels with `timing`. Such a kernel itself has HANDLED: how
 * long its handlers ran.
 */
enum gyre_observe_time {
    GYRE_OBSERVE_WAITED = 0,     /* from the send to the handler */
    GYRE_OBSERVE_HANDLED = 1,    /* in the handler */
    GYRE_OBSERVE_RETURNED = 2,   /* from the handler's end to the receiver */
    GYRE_OBSERVE_ROUND_TRIP = 3, /* from the send to the receiver */
    GYRE_OBSERVE_TIMES = 4
};

/** How long messages took. Grows only, while it is of one record. */
typedef struct gyre_observe_histogram {
    uint32_t record; /* the queue's or the kernel's; 0: the entry is free */
    uint32_t time;   /* enum gyre_observe_time */
    uint64_t sum_ns;
    uint64_t buckets[GYRE_OBSERVE_BUCKETS];
} gyre_observe_histogram;

/**
 * The bucket that a time belongs to: below 64 ns eight buckets of 8 ns, then eight for each octave, up to 137 s. A bucket's middle
 * differs by 6.25 % at most from a time in it, and every power of two from 8 on is an edge.
 */
static inline uint32_t gyre_observe_bucket(uint64_t ns)
{
    if (ns < 64)
        return (uint32_t)(ns >> 3);
    const uint32_t octave = 63 - (uint32_t)__builtin_clzll(ns);
    if (octave > 36)
        return GYRE_OBSERVE_BUCKETS - 1;
    return 8 + 8 * (octave - 6) + ((uint32_t)(ns >> (octave - 3)) & 7);
}

/** The least time of a bucket; that of bucket 256 is where the last one ends. */
static inline uint64_t gyre_observe_edge(uint32_t bucket)
{
    if (bucket < 8)
        return 8 * (uint64_t)bucket;
    return (uint64_t)(8 + bucket % 8) << ((bucket - 8) / 8 + 3);
}

enum { GYRE_OBSERVE_WHOLE = 1000000 };

/** How busy a block of a kernel is. It is looked at now and then, at random: the values say how many of these looks found it at messages. */
typedef struct gyre_observe_block {
    uint32_t record; /* the kernel's; 0: the entry is free */
    uint32_t known;  /* 0: `share` means nothing: there were no looks, or nobody says what the block is at */
    uint32_t share;  /* of the last second that it was looked at, in millionths */
    uint32_t reserved;
    uint64_t seen_ns,
        busy_ns; /* how long it was looked at so far, and how much of that it was at messages; these grow only */
} gyre_observe_block;

/** A sentence of the log at the level of a warning or an error. Sentences that differ in numbers alone are one. */
typedef struct gyre_observe_trouble {
    uint64_t count; /* 0: the entry is free */
    uint64_t first_ns, last_ns;
    uint32_t level; /* gyre_log_level */
    uint32_t reserved;
    char text[224]; /* as it was said the last time */
} gyre_observe_trouble;

enum gyre_observe_event_kind {
    GYRE_OBSERVE_SAID = 1,    /* a line of the log, up to GYRE_LOG_INFO, except for lines of handlers */
    GYRE_OBSERVE_STATE = 2,   /* a kernel came into another state */
    GYRE_OBSERVE_OPENED = 3,  /* a kernel or a queue is there */
    GYRE_OBSERVE_CLOSED = 4,  /* it is gone */
    GYRE_OBSERVE_REFUSED = 5, /* a queue refused messages since the last look */
    GYRE_OBSERVE_LOST = 6     /* a queue dropped or buried messages since the last look */
};

typedef struct gyre_observe_event {
    uint64_t
        number; /* counted from 1; 0 while the entry is written. The entry is whole when `again` is equal */
    uint64_t at_ns;
    uint32_t kind, record; /* enum gyre_observe_event_kind; 0: of no record */
    char text[96];
    uint64_t again;
} gyre_observe_event;

enum gyre_observe_span_kind {
    GYRE_OBSERVE_SPAN_MESSAGE = 1, /* a receiver took the completion of a timed message */
    GYRE_OBSERVE_SPAN_HANDLED = 2, /* a block handled a message */
    GYRE_OBSERVE_SPAN_EMITTED =
        3 /* a block sent `count` messages along a link, out of the HANDLED span that began at
                                      `started_ns` in the same block */
};

/**
 * What happened to a message, while the process is traced. Its times are stamps of the process's hybrid logical clock (gyre/trace.h): an
 * event that comes after another one has the larger stamp. Times that are not known are 0. Keys are numbers without a meaning of
 * their own: the words GYRE_OBSERVE_QUEUE_KEY and GYRE_OBSERVE_LINK_KEY say whose they are.
 */
typedef struct gyre_observe_span {
    /* 2 N for span N, counted from 1, and odd while it is written. A reader that copies an entry from its beginning to its end has a
     * whole one when `mark` and `again` are equal and even. */
    uint64_t mark;
    uint32_t kind;   /* enum gyre_observe_span_kind */
    uint32_t record; /* of the kernel whose block it was; of MESSAGE that of the queue */
    uint32_t block;  /* of HANDLED and EMITTED */
    uint32_t count;  /* of EMITTED: messages; of HANDLED: links that the message came by */
    uint64_t
        queue; /* the key of the queue in which the message's client sent; 0: the message belongs to no request */
    uint64_t index; /* of the request in that queue */
    uint64_t sent_ns, started_ns, finished_ns, received_ns;
    uint64_t link; /* of EMITTED: the key of the link */
    uint64_t
        ring; /* of EMITTED and HANDLED: the key of the ring of the link, and the message's place in it; 0: no link */
    uint64_t place;
    uint64_t trace[2]; /* as in the message's header; 0: it has none */
    uint32_t failed;   /* of HANDLED: 1: the message failed */
    uint32_t turn;     /* of HANDLED: how often its handler had asked for another turn before (GYRE_MORE) */
    uint64_t again;
} gyre_observe_span;

#endif
