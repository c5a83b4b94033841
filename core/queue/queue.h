/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue: one client of a ring, and the object behind gyre_queue in gyre.h. Backend-neutral.
 *
 * Producers share `producer.lock`, consumers share `consumer.lock`; neither is held across a wait or while
 * user code runs (a reservation or a peek is a flag, not a lock). When a thread takes both, the consumer's
 * comes second. With threads = one in the configuration both are skipped, and in builds with GYRE_CHECKED
 * (Debug, AddressSanitizer) a second thread that breaks this promise is noticed: see gyre_side_enter in side.h.
 *
 * The indices `sent` and `received` belong to the client alone; the device sees only slots. A call (request
 * and reply in one) marks its slot, so that receivers leave its reply to it: see call.c.
 *
 * Here stands only the object. Each file of this folder has a header with its functions.
 */
#ifndef GYRE_CORE_QUEUE_QUEUE_H
#define GYRE_CORE_QUEUE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/lock.h"
#include "core/queue/choices.h"
#include "core/queue/foreign.h"
#include "core/queue/stage.h"
#include "core/queue/storm.h"
#include "core/queue/view.h"
#include "core/ring/options.h"
#include "core/ring/ring.h"
#include "gyre/gyre.h"

enum { GYRE_QUEUE_NAME_MAX = 64 };

/* Processors fetch lines in pairs: a side that shared a pair with the other one would take it away. */
enum { GYRE_PAIR_SIZE = 2 * GYRE_LINE_SIZE };

/** Why a send may not go ahead by itself; each is a bit. */
enum gyre_barred {
    GYRE_BARRED_RESERVING = 1, /* a reservation is open */
    GYRE_BARRED_LINE = 2,      /* senders wait for room (senders.h) */
    GYRE_BARRED_STORM = 4,     /* several senders ask again and again, and are turned away (storm.c) */
};

/** How a request was sent, while it is under way. */
enum gyre_mark {
    GYRE_MARK_SEND = 0,
    GYRE_MARK_CALL = 1, /* its caller waits for it: receivers stop here */
    GYRE_MARK_DONE = 2, /* its caller took the reply: the next holder of the consumer lock steps over it */
    GYRE_MARK_ABANDONED = 3, /* its caller gave up: stepped over once the reply is there */
};

/** How messages go through the queue. Constant after creation, except that an attached client sets `policy`. */
struct gyre_queue_ways {
    gyre_full_policy policy;
    gyre_idle_strategy idle;
    uint32_t spin_turns;
    bool many_threads, device_wakes, device_returns; /* as in struct gyre_queue_options */
    bool device_lies;                                /* the same; completions count up to `sent` */
    bool detour;                                     /* sends are posted one at a time (post.h) */
    bool any_order;                                  /* receivers take any completion that is there */
    int light_waits;                                 /* for gyre_barrier_light among this side's waits */
    uint64_t chunk;            /* requests of a batch that are copied before they are published */
    uint32_t quick_reply_size; /* replies up to this size need no second look: `reply_size`, or 0 */
    size_t fixed_size;  /* size of every request without a tail; 0 (no request's size): they have tails */
    size_t direct_size; /* the same, or 0 where sends are posted: gyre_queue_is_direct */
};

/** How messages of callers differ from those in the ring (convert.h). Constant, except for `settle`. */
struct gyre_queue_forms {
    uint32_t caller_request_size, caller_reply_size; /* not 0: one side's type has fields appended */
    uint32_t reply_room;                             /* bytes that a caller of gyre_call needs room for */
    bool packets; /* messages are packets, of which callers see the bytes */
    struct gyre_queue_growth request_growth, reply_growth;
    /* Brings a request with a tail up to date on its way into the ring. Atomic. NULL: requests go as they are. */
    void (*settle)(const struct gyre_queue *queue, void *request, uint64_t length);
};

/** The senders' side. */
struct gyre_queue_producer {
    _Alignas(GYRE_PAIR_SIZE) struct gyre_lock lock;
    uint8_t busy;           /* GYRE_CHECKED: a thread is inside without a lock */
    uint8_t barred;         /* atomic: enum gyre_barred, why sends may not go ahead */
    uint64_t reserved;      /* slots granted by the open reservation */
    size_t reserved_size;   /* bytes of each */
    uint64_t sent;          /* next index to send; read by others with relaxed loads */
    uint64_t sending;       /* atomic: the same, stored before requests are published and not behind them */
    uint64_t received_seen; /* a past value of consumer.received: there is at least that much room */
    uint64_t high_water, rejected, dropped, waits, duplicates;
    const gyre_header *given; /* headers of the requests being put; NULL: the queue fills headers in */
    uint64_t drop_before;     /* the value of `drop_before` in the region's host line */
    uint64_t drop_asked;      /* the last request that a device was asked to drop */
    uint32_t drop_askers;     /* senders that wait for the outcome of that request */
    struct {                  /* senders that wait for room, in their order (senders.h) */
        struct gyre_sender *first, *last;
        bool overtaken; /* another sender went before the first one since its turn began */
    } senders;
    struct gyre_storm storm;
};

/** The receivers' side. */
struct gyre_queue_consumer {
    _Alignas(GYRE_PAIR_SIZE) struct gyre_lock lock;
    uint8_t busy;      /* as the producer's */
    bool peeking;      /* atomic: views are open */
    uint64_t peeked;   /* views of the open peek */
    uint64_t received; /* next index to receive; released after its slot was read */
    /* A past value of producer.sending, when the device may lie; else the largest number. Completions from here on do not count. */
    uint64_t sent_seen;
    uint64_t dropped, abandoned, waits;
    bool failures; /* some of the peeked views may be of failed requests */
};

/** Whether the queue takes messages, and how many threads wait at it. */
struct gyre_queue_state {
    _Alignas(GYRE_PAIR_SIZE) uint32_t closed;
    uint32_t abandoned;   /* closed for good, and a device that does not leave may still write replies */
    uint32_t credit_bell; /* futex word: the cursor moved, a reservation or a peek ended, a caller gave up */
    uint32_t credit_waiters; /* threads about to sleep or asleep on it */
    uint32_t inside;         /* threads that wait or waited in their call; destroy waits for them */
    uint32_t disowned;       /* in a forked child: closed, because it is its parent's */
    uint32_t misused;        /* closed, because two threads used it at once with threads = one */
    uint32_t orphaned;       /* the program that served it ended */
    uint32_t away;           /* atomic: that program ended, and the queue waits for the next one */
    const char *lost_why; /* why an orphaned queue lost its server, set before `orphaned`; NULL: no server */
};

struct gyre_queue {
    struct gyre_ring ring;
    struct gyre_queue_ways ways;
    uint8_t *marks; /* enum gyre_mark, one a slot: mark.h */
    struct gyre_queue_stages stages;
    const struct gyre_line *line; /* messages wait in front of the ring (line.h); NULL: none do */
    const struct gyre_known_ids
        *known; /* messages that were sent before are not sent again (line.h); NULL: they are */
    struct gyre_queue_forms forms;
    struct gyre_queue_choices choices;
    struct gyre_queue_foreign foreign;
    struct gyre_queue_view view;
    struct gyre_queue_watch *watch; /* for gyre_queue_descriptor; NULL: no descriptor was asked for */
    struct gyre_set_member *sets;   /* the sets that it is in (set.c) */
    char name[GYRE_QUEUE_NAME_MAX];
    char full_text[192]; /* for a sender that does not wait: the queue is full */
    struct gyre_queue_producer producer;
    struct gyre_queue_consumer consumer;
    struct gyre_queue_state state;
};

/* How other folders reach the parts of a queue that they may see. */

static inline const struct gyre_ring *gyre_ring_of(const gyre_queue *queue)
{
    return &queue->ring;
}

/** The types of a protocol: see choices.h. */
static inline const struct gyre_queue_choices *gyre_choices_of(const gyre_queue *queue)
{
    return &queue->choices;
}

/** The kernel's part: see view.h. */
static inline const struct gyre_queue_view *gyre_view_of(const gyre_queue *queue)
{
    return &queue->view;
}

/** The same for the kernel, which writes it. */
static inline struct gyre_queue_view *gyre_view_for(gyre_queue *queue)
{
    return &queue->view;
}

/** The part about other programs: see foreign.h. */
static inline const struct gyre_queue_foreign *gyre_foreign_of(const gyre_queue *queue)
{
    return &queue->foreign;
}

/** The same for core/attach, which fills it in. */
static inline struct gyre_queue_foreign *gyre_foreign_for(gyre_queue *queue)
{
    return &queue->foreign;
}

/** The types of a protocol, for the kernel, which fills them in before anything is sent. */
static inline struct gyre_queue_choices *gyre_choices_for(gyre_queue *queue)
{
    return &queue->choices;
}

/** How its messages go. */
static inline const struct gyre_queue_ways *gyre_ways_of(const gyre_queue *queue)
{
    return &queue->ways;
}

/** Whether callers see the bytes of packets (convert.h). */
static inline bool gyre_queue_has_packets(const gyre_queue *queue)
{
    return queue->forms.packets;
}

/** Bytes that a caller needs room for. */
static inline uint32_t gyre_queue_reply_room(const gyre_queue *queue)
{
    return queue->forms.reply_room;
}

/** Sets how a full queue treats a sender; before anything is sent. */
static inline void gyre_queue_set_policy(gyre_queue *queue, gyre_full_policy policy)
{
    queue->ways.policy = policy;
}

/** The queue's name; "" where it has none. */
static inline const char *gyre_queue_name(const gyre_queue *queue)
{
    return queue->name;
}

#endif
