/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subscriptions: a program hears what kernels of a pipeline send to a topic, or to an outlet (a link with `to = host`). Programs
 * come and go while the pipeline is open. Each subscription has rings of its own, so subscribers do not disturb each other.
 *
 *     gyre_subscription *prices;
 *     gyre_subscribe(pipeline, "prices", NULL, &prices);                      the program that opened the pipeline
 *     gyre_subscribe_attached("market/prices", NULL, &prices);                any other program
 *
 *     price heard;
 *     while (gyre_subscription_receive(prices, &heard, sizeof heard, NULL, GYRE_FOREVER) == GYRE_OK)
 *         show(&heard);
 *     gyre_unsubscribe(prices);
 *
 * A subscription gets what is emitted after gyre_subscribe returned. Flows do not wait for what subscriptions get: a request is
 * completed when its kernels are done. The messages of one block of a sender come in their order.
 *
 * Threads, deadlines and errors as in gyre.h. Stability: as gyre.h.
 */
#ifndef GYRE_SUBSCRIBE_H
#define GYRE_SUBSCRIBE_H

#include "gyre/pipeline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gyre_subscription gyre_subscription;

typedef struct gyre_subscribe_desc {
    size_t size;
    const gyre_type
        *type; /* the type that the caller receives; it has to equal the topic's. NULL: unchecked */
    /**
     * What happens while the subscriber takes nothing and its rings are full. WAIT: the sending kernel waits, and with it the whole
     * pipeline. DROP: the subscriber misses the message. CUT: it misses that one and all later ones, until it subscribes again.
     */
    gyre_slow slow;
    /** Messages of each block of each sender that may wait for the subscriber: a power of two. 0: Gyre chooses. */
    uint64_t capacity;
    /* of gyre_subscribe_attached alone: */
    const char *path;     /* the server's socket; NULL: the path that a server uses when none is configured */
    uint64_t deadline_ns; /* when it gives up; 0: after five seconds */
} gyre_subscribe_desc;

/**
 * Subscribes to a topic of an open pipeline, or to an outlet, by its name. `desc` may be NULL. NOT_FOUND for another name;
 * INCOMPATIBLE when the types differ; INVALID for a capacity that cannot be, or a sender that was not compiled for programs; EXHAUSTED for more subscribers than a kernel can send
 * to, or without memory; CLOSED for a pipeline that takes no more requests; TIMEOUT when a handler of the pipeline does not
 * return. Owner of *out: the caller, until gyre_unsubscribe, also when the pipeline is closed before.
 */
GYRE_API gyre_status gyre_subscribe(gyre_pipeline *pipeline, const char *topic,
                                    const gyre_subscribe_desc *desc, gyre_subscription **out);

/**
 * The same in a program that attaches to a server (attach.h): "PIPELINE/TOPIC", or "TOPIC" when one of the server's pipelines alone
 * has it. The program needs no runtime. Messages come over the server's socket: the server reads nothing that this program
 * could write. Also UNAVAILABLE, INCOMPATIBLE and TIMEOUT as of gyre_attach; EXHAUSTED when the server has no room.
 */
GYRE_API gyre_status gyre_subscribe_attached(const char *name, const gyre_subscribe_desc *desc,
                                             gyre_subscription **out);

/** What is told beside a message. */
typedef struct gyre_publication {
    size_t size;
    uint64_t length; /* bytes of the message, which a message with a tail may have fewer of than its type */
    uint64_t missed; /* messages that the subscription missed since the last one that it received */
} gyre_publication;

/**
 * Receives the next message. `size`: room at `message`, the type's size at least; what a shorter message leaves of the type's
 * size is zero. `about` may be NULL. AGAIN when none is there and the caller does not wait, TIMEOUT at the deadline. CLOSED once
 * the pipeline was closed, or the subscription was cut off, and LOST once the server's program died: after all that came before.
 */
GYRE_API gyre_status gyre_subscription_receive(gyre_subscription *subscription, void *message, size_t size,
                                               gyre_publication *about, uint64_t deadline_ns);

typedef struct gyre_subscription_info {
    size_t size;
    char name[128];        /* "PIPELINE/TOPIC" */
    const gyre_type *type; /* of its messages; valid until gyre_unsubscribe */
    uint32_t slow;         /* a gyre_slow */
    uint32_t is_cut;       /* not 0: it was cut off */
    uint64_t received;     /* messages that the caller received */
    uint64_t missed; /* messages that found no room, ever; of an attached program: as the server last told */
} gyre_subscription_info;

/** Tells how the subscription fares: fills in the members of *info that its size covers. INVALID when that size is not set. */
GYRE_API gyre_status gyre_subscription_info_get(gyre_subscription *subscription,
                                                gyre_subscription_info *info);

/** Ends the subscription. Threads that receive from it return CLOSED first; no other call may be under way. Accepts NULL. */
GYRE_API void gyre_unsubscribe(gyre_subscription *subscription);

#ifdef __cplusplus
}
#endif
#endif
