/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client side of a queue: what stands behind gyre_queue in gyre.h. Backend-neutral; no call goes through
 * a table.
 *
 * Producers share `producer.lock`, consumers share `consumer.lock`; neither is held across a wait or while
 * user code runs (a reservation or a peek is a flag, not a lock). When a thread takes both, the consumer's
 * comes second. With threads = one in the configuration both are skipped, and in builds with GYRE_CHECKED
 * (Debug, AddressSanitizer) a second thread that breaks this promise is noticed: see gyre_side_enter.
 *
 * The indices `sent` and `received` belong to the client alone; the device sees only slots. A call (request
 * and reply in one) marks its slot, so that receivers leave its reply to it: see call.c.
 */
#ifndef GYRE_CORE_QUEUE_QUEUE_H
#define GYRE_CORE_QUEUE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/lock.h"
#include "core/ring/bytes.h"
#include "core/stages/names.h"
#include "core/ring/region.h"
#include "core/ring/slot.h"
#include "core/types/types.h"
#include "gyre/gyre.h"
#include "gyre/ring_layout.h"

enum { GYRE_QUEUE_NAME_MAX = 64 };

/* Processors fetch lines in pairs: a side that shared a pair with the other one would take it away. */
enum { GYRE_PAIR_SIZE = 2 * GYRE_LINE_SIZE };

/** Both sides' types where one has fields appended and they have tails; else NULL. Owned. */
struct gyre_queue_growth {
    gyre_layout *callers, *kernels;
};
void gyre_queue_growth_finish(struct gyre_queue_growth *growth);

/** How to make a queue; everything decided and checked, nothing defaulted. */
struct gyre_queue_options {
    const char *name; /* copied */
    uint64_t capacity;
    uint32_t request_size, reply_size; /* largest payloads */
    uint32_t request_least;            /* of requests with tails: with nothing in it; 0: they have none */
    uint32_t reply_least;              /* of replies alike */
    uint32_t caller_request_size, caller_reply_size; /* of the caller's types where they differ, else 0 */
    uint32_t reply_room; /* of packets: bytes that a caller has to have room for */
    uint32_t wire;       /* not 0: messages are packets, of which callers see the bytes (convert.c) */
    struct gyre_queue_growth request_growth, reply_growth; /* the queue's once it was made */
    gyre_full_policy policy;
    gyre_idle_strategy idle;
    uint32_t spin_turns;
    uint64_t first_sequence;
    bool many_threads;
    bool device_wakes;    /* the device rings bells; else waits poll with short sleeps */
    bool device_returns;  /* one that died is replaced: what it says of its end is no reason to give up */
    bool device_parks;    /* its workers park at once: sends fence */
    bool timed;           /* the kernel was compiled to say when it handles messages */
    uint32_t header_size; /* of the header of each request; 0: none */
    /* Messages with tails are stored back to back, in rings of so many `bytes` (0: as fits), the replies in
     * one for each of the device's `tracks`. */
    bool bridged_requests, bridged_replies;
    uint64_t bytes;
    uint32_t tracks;
    /* there are express lines (express.h) */
    bool express, express_replies;
    uint32_t request_type;        /* what headers say that name no type */
    uint64_t ttl_ns;              /* after which a message that no handler took up is taken back; 0: never */
    uint64_t dead_letters;        /* the most that are kept */
    uint32_t dedup;               /* ids that are known; 0: none */
    uint32_t levels;              /* of priority; 1: messages go in the order of the sends */
    uint64_t age_ns;              /* after which a message rises a level */
    uint64_t window;              /* messages in the ring at once, of queues with levels */
    bool any_order;               /* receivers take whatever is there */
    bool sealed;                  /* messages have checksums */
    gyre_control_region *control; /* of the kernel; outlives the queue */
    bool lent;                    /* its client is another program: see lent.h */
    bool trusted;                 /* ... which is believed: the device handles its messages in place */
    bool passed_on;               /* replies may be passed on to other programs (a relay) */
    /* Of a client whose requests are relayed into a queue that keeps them (origin.h). */
    bool tells_covered, tells_durable; /* the server tells how far checkpoints, a journal have come */
    uint64_t left;                     /* so many requests from the first on were sent by an earlier client */
};

/** What gyre_queue_create would take for these options. */
void gyre_queue_measure(const struct gyre_queue_options *options, struct gyre_queue_cost *cost);

/** What a device said that its kernel was lost of, as " (...)" in `text`; "" when it did not. */
const char *gyre_control_why_lost(const gyre_control_region *control, char *text, size_t size);

/** Why a send may not go ahead by itself; each is a bit. */
enum gyre_barred {
    GYRE_BARRED_RESERVING = 1, /* a reservation is open */
    GYRE_BARRED_LINE = 2,      /* senders wait for room (senders.h) */
    GYRE_BARRED_STORM = 4,     /* several senders ask again and again, and are turned away (storm.c) */
};

enum { GYRE_STORM_SENDERS = 64 };

/** Senders that are turned away from a full queue (storm.c). */
struct gyre_storm {
    uintptr_t last; /* the thread that was turned away last; 0: none was */
    uint64_t count; /* times that any was */
    uint32_t calm;  /* messages since the last time */
    struct {
        uintptr_t thread;
        uint64_t count, own; /* of these times: how many when it was let in last, and since then its own */
        bool put_off;        /* once since then */
    } senders[GYRE_STORM_SENDERS];
};

/** What a slot's request was sent by, while it is under way. */
enum gyre_mark {
    GYRE_MARK_SEND = 0,
    GYRE_MARK_CALL = 1,      /* its caller waits for it: receivers stop here */
    GYRE_MARK_DONE = 2,      /* its caller took the reply: whoever holds the consumer lock steps over it */
    GYRE_MARK_ABANDONED = 3, /* its caller gave up: stepped over once the reply is there */
};

struct gyre_queue {
    /* constant after creation */
    char name[GYRE_QUEUE_NAME_MAX];
    char full_text[192]; /* what a sender who does not wait is told */
    struct gyre_region region;
    gyre_queue_region *shared;
    gyre_control_region *control;
    gyre_queue_slots slots;
    unsigned char *requests, *replies;
    uint8_t *marks; /* one a slot */
    /* of requests, of replies (express.h); NULL: there are none */
    gyre_express_line *express, *express_replies;
    uint64_t capacity, mask;
    uint64_t chunk; /* requests of a batch that are copied before they are published */
    uint32_t request_stride, reply_stride, request_size, reply_size;
    uint32_t request_least;                          /* of requests with tails; else 0 */
    uint32_t caller_request_size, caller_reply_size; /* not 0: either side's type has fields appended */
    bool packets;
    uint32_t reply_room;
    struct gyre_queue_growth request_growth, reply_growth;
    uint32_t quick_reply_size; /* replies up to it need no second look: `reply_size`, or 0 */
    bool detour, any_order;    /* sends are posted, receivers take what is there: behaviours.h */
    size_t fixed_size;         /* of every request when they have no tails; else 0, which no request has */
    size_t direct_size;        /* the same, but 0 where sends are posted: gyre_queue_is_direct */
    gyre_full_policy policy;
    gyre_idle_strategy idle;
    uint32_t spin_turns;
    bool many_threads, device_wakes, device_returns;
    int light_sends, light_waits; /* for gyre_barrier_light: towards the device, and of this side's waits */
    struct gyre_queue_timing *timing; /* NULL: messages are not timed */
    unsigned char *headers;           /* of slot 0; NULL: messages have none */
    uint32_t header_size;
    gyre_u32 *seals;              /* of requests, then of replies: seals.c; NULL: there are none */
    uint32_t request_type;        /* what a header says whose sender named no type */
    const uint32_t *choice_types; /* the same of each type of a protocol, by its number less 1; or NULL */
    uint32_t choice_count;
    const uint8_t *queries; /* of each: 1: its handler changes nothing that is kept; NULL: none is so */
    uint64_t ttl_ns;
    struct gyre_queue_letters *letters;     /* these are of behaviours.h; NULL: the queue has none */
    struct gyre_queue_expiry *expiry;       /* in queues whose headers hold a deadline */
    struct gyre_queue_known *known;         /* in queues that look for messages sent twice */
    struct gyre_queue_levels *levels;       /* in queues with priorities */
    struct gyre_queue_attendant *attendant; /* in queues of which something may be due */
    bool annotated;                   /* something is noted of every message: its times, its header, itself */
    struct gyre_queue_log *log;       /* NULL: requests are not kept for another time (log.h) */
    struct gyre_queue_bridge *bridge; /* NULL: every message lies in its slot */
    struct gyre_queue_spans *spans;   /* NULL: spans lie where their senders put them (spans.h) */
    struct gyre_lent *lent;           /* NULL: the client is this program */
    struct gyre_queue_origin
        *origins;            /* atomic; NULL: no request of it came from another program: origin.h */
    struct gyre_names names; /* constant after creation: where those of earlier lives of this program go on */
    bool tells_covered, tells_durable; /* a server tells how far requests have come: origin.h */
    uint64_t left;                     /* requests from the first on that an earlier client had sent */
    /* Brings a request with a tail up to date on its way into the ring; atomic, NULL: they go as they are. */
    void (*settle)(const struct gyre_queue *queue, void *request, uint64_t length);
    uint64_t first_sequence;
    int doorbell; /* -1, or its own eventfd: another program rings the kernel's doorbell for it */
    void (*detach)(gyre_queue *queue); /* what closes it where no kernel of this program has it; else NULL */
    void *attachment;                  /* for `detach` */

    /* the runtime's: queues are made, listed and withdrawn there */
    struct gyre_kernel *kernel;
    struct gyre_kernel_types *types; /* of its kernel, which another program may have; NULL: nobody asked */
    struct gyre_queue *next;
    void *device_memory;
    struct gyre_buffer *span_memory; /* NULL: it has none */
    uint64_t device_address;         /* of the region, where the device is in this process */
    struct gyre_durable *durable;    /* NULL: it has no journal */
    uint32_t table_entry;
    uint64_t
        table_first; /* what its entry of the table says: the first index for a device that sees it first */
    bool of_shards;  /* constant once shards are open: theirs to close */
    bool withdrawn;  /* it is being closed: no device gets to see it any more */
    uint32_t suspect_crashes; /* of the device in a row while `suspect` was the first unanswered request */
    uint32_t alone_crashes;   /* of these, while it was the only one that the device saw */
    uint64_t suspect;
    uint64_t watched, watched_ns; /* the first unanswered request, and since when it is the same one */
    uint64_t gate; /* requests from this index on are kept from the device; UINT64_MAX: none, 0: all */

    struct {
        _Alignas(GYRE_PAIR_SIZE) struct gyre_lock lock;
        uint8_t busy;           /* GYRE_CHECKED: somebody is inside without a lock */
        uint8_t barred;         /* atomic, as `peeking` below: enum gyre_barred, why sends may not go ahead */
        uint64_t reserved;      /* slots granted by the open reservation */
        size_t reserved_size;   /* bytes of each */
        uint64_t sent;          /* next index to send; read by others with relaxed loads */
        uint64_t received_seen; /* a past value of consumer.received: room is at least what it says */
        uint64_t high_water, rejected, dropped, waits, duplicates;
        const gyre_header *given; /* of the requests that are being put; NULL: the queue fills all in */
        uint64_t drop_before;     /* what the region's line of that name says */
        uint64_t drop_asked;      /* the last request that a device was asked to drop */
        uint32_t drop_askers;     /* senders that wait for what comes of it */
        struct {                  /* who wait for room, in their order (senders.h) */
            struct gyre_sender *first, *last;
            bool overtaken; /* since the first one's turn began another went before it */
        } senders;
        struct gyre_storm storm;
    } producer;

    struct {
        _Alignas(GYRE_PAIR_SIZE) struct gyre_lock lock;
        uint8_t busy; /* as the producer's */
        bool peeking;
        uint64_t peeked;   /* views of the open peek */
        uint64_t received; /* next index to receive; released after its slot was read */
        uint64_t dropped, abandoned, waits;
        bool failures;             /* some of the peeked views may be of failed requests */
        gyre_message_info *wanted; /* of the next completion that is taken; NULL: nobody asks */
    } consumer;

    struct {
        _Alignas(GYRE_PAIR_SIZE) uint32_t closed;
        uint32_t abandoned; /* closed for good, and a device that does not leave may still write replies */
        uint32_t
            credit_bell; /* futex word: the cursor moved, a reservation or a peek ended, a caller gave up */
        uint32_t credit_waiters; /* threads about to sleep or asleep on it */
        uint32_t inside;         /* threads that wait or waited in their call; destroy waits for them */
        uint32_t disowned;       /* in a forked child: closed, because it is its parent's */
        uint32_t misused;        /* closed, because two threads used it at once with threads = one */
        uint32_t orphaned;       /* the program that served it ended */
        uint32_t away;           /* atomic: it did, and the next one is waited for */
        const char *lost_why; /* of an orphaned queue, set before it is one; NULL: that there is no server */
    } state;

    struct gyre_queue_watch *watch; /* of gyre_queue_descriptor; NULL until asked for */
    struct gyre_set_member *sets;   /* that it is in (set.c) */
};

/** In a forked child: closes this process's copy and touches nothing that its parent sees. */
void gyre_queue_disown(gyre_queue *queue);
/** Two threads were in one side of a queue that has no locks: closes it, since what it holds may be wrong. */
void gyre_queue_misuse(gyre_queue *queue);
/** It was disowned or misused: gyre_queue_tell_refused says so, CLOSED or INVALID. */
static inline bool gyre_queue_refused(const gyre_queue *queue)
{
    return queue->state.disowned || __atomic_load_n(&queue->state.misused, __ATOMIC_ACQUIRE);
}
gyre_status gyre_queue_tell_refused(const gyre_queue *queue);

/** INVALID for a capacity that is no power of two or sizes out of range, EXHAUSTED for want of memory. */
gyre_status gyre_queue_create(const struct gyre_queue_options *options, gyre_queue **out);

/**
 * The client's side of a region that another program's gyre_queue_create made from the same options (`lent`
 * there, not here). The descriptor is dup'ed. INVALID when it does not hold what the options say.
 */
gyre_status gyre_queue_create_at(const struct gyre_queue_options *options, int descriptor, gyre_queue **out);

/**
 * Closes, completes what is unanswered, lets every thread that waits in a call on the queue return, frees.
 * The device has left. Accepts NULL.
 */
void gyre_queue_destroy(gyre_queue *queue);

/**
 * For a queue that cannot be completed or freed, because a handler that does not return may still write into
 * it: closes it and lets every wait, now and later, end with CLOSED unless a reply is there.
 */
void gyre_queue_abandon(gyre_queue *queue);

/** It leaves the sets that it is in: nobody is told of it any more. */
void gyre_queue_leave_sets(gyre_queue *queue);

/** Refuses sends from now on and wakes everybody who waits. */
void gyre_queue_close_sends(gyre_queue *queue);

/** The program that serves it is gone: whoever waits, now and later, gets LOST unless a reply is there. */
void gyre_queue_orphan(gyre_queue *queue);

/**
 * Before another device comes, while sends are closed: returns the first index that it has to handle. What is
 * put into the ring from now on is its to complete.
 */
uint64_t gyre_queue_rewind(gyre_queue *queue);

/** Accepts sends again after gyre_queue_close_sends. */
void gyre_queue_reopen(gyre_queue *queue);

/** Requests accepted and not completed yet. */
uint64_t gyre_queue_outstanding(const gyre_queue *queue);

/**
 * Completes every request that has no completion as UNHANDLED and returns how many there were. Sends are
 * closed and the device has left: the caller is the only writer of replies.
 */
uint64_t gyre_queue_complete_unhandled(gyre_queue *queue);

/** The same for one of which that is known already, and counted. */
void gyre_queue_complete_one(gyre_queue *queue, uint64_t index);

/** The index that the next send will take. */
uint64_t gyre_queue_next_index(const gyre_queue *queue);

/** What a caller without a completion is told of one that is no reply: FAILED, CLOSED or LOST. */
gyre_status gyre_queue_tell_outcome(const gyre_queue *queue, const gyre_completion *completion);

/** "queue 'orders'" or "the queue": for sentences. */
const char *gyre_queue_label(const gyre_queue *queue, char *text, size_t size);

#endif
