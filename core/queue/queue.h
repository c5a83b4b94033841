/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defines a queue: one client of a ring, and the object behind gyre_queue in gyre.h. No backend is visible here.
 *
 * Producers share `producer.lock`, consumers share `consumer.lock`; neither is held across a wait or while
 * user code runs (a reservation or a peek is a flag, not a lock). When a thread takes both, the consumer's
 * comes second. With threads = one in the configuration both are skipped, and in builds with GYRE_CHECKED
 * (Debug, AddressSanitizer) a second thread that breaks this promise is noticed: see gyre_side_enter in side.h.
 *
 * The indices `sent` and `received` belong to the client alone; the device sees only slots. A call (request
 * and reply in one) marks its slot, so that receivers leave its reply to it: see call.c.
 *
 * This header has only the object; the functions are in the other headers of this folder.
 */
#ifndef GYRE_CORE_QUEUE_QUEUE_H
#define GYRE_CORE_QUEUE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/lock.h"
#include "core/queue/choice_rules.h"
#include "core/queue/foreign.h"
#include "core/queue/stage.h"
#include "core/queue/storm.h"
#include "core/queue/view.h"
#include "core/ring/ring.h"
#include "core/ring/ring_options.h"
#include "gyre/gyre.h"

enum { GYRE_QUEUE_NAME_MAX = 64 };

/* Processors fetch cache lines in pairs. If the two sides of a queue shared a pair, each would take it away from the other. */
enum { GYRE_PAIR_SIZE = 2 * GYRE_LINE_SIZE };

/** Why a send may not go ahead at once. Each reason is a bit. */
enum gyre_barred {
    GYRE_BARRED_RESERVING = 1, /* a reservation is open */
    GYRE_BARRED_LINE = 2,      /* senders wait for room (senders.h) */
    GYRE_BARRED_STORM = 4,     /* several senders are refused and ask again and again (storm.c) */
};

/** How a request was sent, and what became of its caller. Kept for each slot while the request is under way. */
enum gyre_mark {
    GYRE_MARK_SEND = 0,
    GYRE_MARK_CALL = 1, /* a caller waits for the reply: receivers stop before this slot */
    GYRE_MARK_DONE = 2, /* the reply was taken: the next holder of the consumer lock steps over the slot */
    GYRE_MARK_ABANDONED = 3, /* the caller gave up: the slot is stepped over once the reply is there */
};

/** How messages go through the queue. Constant after creation, except `quiet`, and `policy`, which an attached client sets. */
struct gyre_queue_ways {
    gyre_full_policy policy;
    gyre_idle_strategy idle;
    uint32_t spin_turns;
    bool many_threads, device_wakes, device_returns; /* as in struct gyre_queue_options */
    bool device_lies; /* as in struct gyre_queue_options; 1: only completions below `sent` count */
    bool detour;      /* sends are posted one at a time (post.h) */
    bool any_order;   /* receivers take any completion that is there */
    bool quiet;       /* sends ring no bell (gyre_queue_set_quiet); the sender's own */
    bool
        keeps_sent; /* requests that are sent again have the time of their first send (gyre_header.sent_ns) */
    uint64_t sent_shift;       /* added to it, of those of an earlier start of the machine */
    int light_waits;           /* argument of gyre_barrier_light for threads of this side */
    uint64_t chunk;            /* requests of a batch that are copied before they are published */
    uint32_t quick_reply_size; /* replies up to this size need no second look: `reply_size`, or 0 */
    size_t fixed_size;         /* the size of every request; 0: requests have tails */
    size_t direct_size;        /* as fixed_size, or 0 where sends are posted: gyre_queue_is_direct */
};

/** How messages of callers differ from messages in the ring (convert.h). Constant, except for `settle`. */
struct gyre_queue_forms {
    uint32_t caller_request_size, caller_reply_size; /* not 0: one side's type has fields appended */
    uint32_t reply_room;                             /* bytes that a caller of gyre_call needs room for */
    bool packets; /* messages are packets (encoded bytes); callers see the bytes */
    struct gyre_queue_growth request_growth, reply_growth;
    /* Changes a request with a tail on its way into the ring. Atomic. NULL: requests go unchanged. */
    void (*settle)(const struct gyre_queue *queue, void *request, uint64_t length);
};

/** The senders' side: members that sending threads use, under the producer's lock unless they are atomic. */
struct gyre_queue_producer {
    _Alignas(GYRE_PAIR_SIZE) struct gyre_lock lock;
    uint8_t busy;         /* GYRE_CHECKED: a thread is inside a side that has no lock */
    uint8_t barred;       /* atomic: enum gyre_barred, why sends may not go ahead */
    uint64_t reserved;    /* slots granted by the open reservation */
    size_t reserved_size; /* bytes of each reserved request */
    bool again;           /* what is sent was sent before, and has the header of then */
    uint64_t sent;        /* next index to send; read by others with relaxed loads */
    uint64_t sending;     /* atomic: as `sent`, but stored before requests are published, not after */
    /* a past value of consumer.received; the queue has at least the room that follows from it */
    uint64_t received_seen;
    uint64_t high_water, rejected, dropped, waits, duplicates;
    const gyre_header *given; /* the sender's headers of the requests being put; NULL: it gave none */
    uint64_t drop_before;     /* the value of host.drop_before in the ring's region */
    uint64_t drop_asked;      /* the last request that the device was asked to drop */
    uint32_t drop_askers;     /* senders that asked for this drop and wait for its outcome */
    struct {                  /* senders that wait for room, in their order (senders.h) */
        struct gyre_sender *first, *last;
        bool overtaken; /* a sender outside the line sent since the first sender's turn began */
    } senders;
    struct gyre_storm storm;
};

/** The receivers' side: members that receiving threads use, under the consumer's lock unless they are atomic. */
struct gyre_queue_consumer {
    _Alignas(GYRE_PAIR_SIZE) struct gyre_lock lock;
    uint8_t busy;      /* as `busy` of the producer */
    bool peeking;      /* atomic: a peek is open, whose views were not released */
    uint64_t peeked;   /* views of the open peek */
    uint64_t received; /* the cursor: the next index to receive; stored (release) after slots were read */
    /* Completions from this index on do not count: a past value of producer.sending when the device may lie, else the largest
     * number. */
    uint64_t sent_seen;
    uint64_t dropped, abandoned, waits;
    bool failures; /* views of the open peek may show failed requests */
};

/** Whether the queue takes messages, and how many threads wait at it. */
struct gyre_queue_state {
    _Alignas(GYRE_PAIR_SIZE) uint32_t closed;
    /* closed for good, although the device may not have left and may still write replies */
    uint32_t abandoned;
    uint32_t credit_bell; /* futex word: the cursor moved, a reservation or a peek ended, a caller gave up */
    uint32_t credit_waiters; /* threads that sleep, or are about to sleep, on the credit bell */
    uint32_t inside;         /* threads in a call that waits; gyre_queue_destroy waits for them */
    uint32_t disowned;       /* closed in a forked child, because the queue belongs to its parent */
    uint32_t misused;        /* closed, because two threads used the queue at once with threads = one */
    uint32_t orphaned;       /* the program that served the queue ended */
    uint32_t away;           /* atomic: that program ended, and the queue waits for its next server */
    const char *lost_why;    /* why the server is lost, set before `orphaned`; NULL: the server just ended */
};

struct gyre_queue {
    struct gyre_ring ring;
    struct gyre_queue_ways ways;
    uint8_t *marks; /* enum gyre_mark, one a slot: mark.h */
    struct gyre_queue_stages stages;
    const struct gyre_line *line; /* a line of messages in front of the ring (line.h); NULL: none */
    const struct gyre_known_ids
        *known; /* ids of messages sent before, which are not sent again (line.h); NULL: no ids are kept */
    struct gyre_queue_forms forms;
    struct gyre_queue_choices choices;
    struct gyre_queue_foreign foreign;
    struct gyre_queue_view view;
    struct gyre_queue_watch *watch; /* for gyre_queue_descriptor; NULL: no descriptor was asked for */
    struct gyre_set_member *sets;   /* the sets that contain this queue (set.c) */
    char name[GYRE_QUEUE_NAME_MAX];
    char full_text[192]; /* the sentence "the queue is full", made once for senders that do not wait */
    struct gyre_queue_producer producer;
    struct gyre_queue_consumer consumer;
    struct gyre_queue_state state;
};

/* How other folders reach the parts of a queue that they may see. */

static inline const struct gyre_ring *gyre_ring_of(const gyre_queue *queue)
{
    return &queue->ring;
}

/** The types of a protocol: see choice_rules.h. */
static inline const struct gyre_queue_choices *gyre_choices_of(const gyre_queue *queue)
{
    return &queue->choices;
}

/** The kernel's part: see view.h. */
static inline const struct gyre_queue_view *gyre_view_of(const gyre_queue *queue)
{
    return &queue->view;
}

/** The kernel's view of the queue, for the kernel to write. */
static inline struct gyre_queue_view *gyre_view_for(gyre_queue *queue)
{
    return &queue->view;
}

/** The part about other programs: see foreign.h. */
static inline const struct gyre_queue_foreign *gyre_foreign_of(const gyre_queue *queue)
{
    return &queue->foreign;
}

/** The links to other programs, for core/attach to fill in. */
static inline struct gyre_queue_foreign *gyre_foreign_for(gyre_queue *queue)
{
    return &queue->foreign;
}

/** The types of a protocol, for the kernel to fill in before any request is sent. */
static inline struct gyre_queue_choices *gyre_choices_for(gyre_queue *queue)
{
    return &queue->choices;
}

/** How messages go through the queue. */
static inline const struct gyre_queue_ways *gyre_ways_of(const gyre_queue *queue)
{
    return &queue->ways;
}

/** The state of a stage (stage.h); NULL: the queue has not that stage. Inline, because some stages ask for each message. */
static inline void *gyre_stage_state(const gyre_queue *queue, unsigned number)
{
    return queue->stages.states[number];
}

/** Whether callers see the bytes of packets (convert.h). */
static inline bool gyre_queue_has_packets(const gyre_queue *queue)
{
    return queue->forms.packets;
}

/** The bytes that a caller of gyre_call needs for a reply. */
static inline uint32_t gyre_queue_reply_room(const gyre_queue *queue)
{
    return queue->forms.reply_room;
}

/** Sets how a full queue treats a sender. Called before any request is sent. */
static inline void gyre_queue_set_policy(gyre_queue *queue, gyre_full_policy policy)
{
    queue->ways.policy = policy;
}

/**
 * Whether sends ring no bell from now on. Its sender, which has to be the only one, calls gyre_kernel_help after a send, or
 * gyre_queue_ring_doorbell when the queue is not quiet any more. Returns whether it is quiet: a queue is not whose sends are no plain copies.
 */
static inline bool gyre_queue_set_quiet(gyre_queue *queue, bool quiet)
{
    quiet = quiet && queue->ways.direct_size && !queue->ring.bytes;
    /* relaxed: other threads that ring, as a stage's attendant, may see the old one; the sender helps or rings afterwards */
    __atomic_store_n(&queue->ways.quiet, quiet, __ATOMIC_RELAXED);
    return quiet;
}

/** The queue's name; "" for a queue without a name. */
static inline const char *gyre_queue_name(const gyre_queue *queue)
{
    return queue->name;
}

#endif
