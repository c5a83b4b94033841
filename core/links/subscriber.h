/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A subscription of this program to a topic of an open pipeline: rings that the topic's senders fill as they fill those of a
 * kernel, and that gyre_subscription_receive reads. It looks to the senders like a kernel: where that has a control region, it has
 * its `control`, whose doorbell they ring.
 *
 * Who owns it: the caller; while it is in the pipeline's list, the pipeline too. The end of the pipeline takes it off the list,
 * when no table names its rings any more: what lies in them can be received all the same.
 *
 * Locks: pipeline->lock for the list; then subscriber->lock for what is below it. Nobody holds subscriber->lock while waiting.
 */
#ifndef GYRE_CORE_LINKS_SUBSCRIBER_H
#define GYRE_CORE_LINKS_SUBSCRIBER_H

#include <pthread.h>

#include "core/links/link_store.h"
#include "core/links/subscription.h"
#include "gyre/link_layout.h"

/** A port that sends to the topic, and the rings that its blocks fill. */
struct gyre_subscriber_source {
    int node;
    uint32_t port;
    uint32_t first, count; /* among the subscriber's rings */
};

/** A ring, as its reader sees it. */
struct gyre_subscriber_ring {
    gyre_link_ring *ring;
    const unsigned char *slots; /* as this process sees them */
    gyre_control_region *sender;
    uint64_t next; /* the message to read next */
};

struct gyre_subscriber_copies; /* subscriber_copies.h */

struct gyre_subscriber {
    struct gyre_subscription face; /* first */
    char topic[GYRE_PIPELINE_NAME_MAX];
    uint64_t capacity;
    uint32_t stride;
    struct gyre_subscriber_copies
        *copies; /* NULL: senders fill `rings`. Else they fill those, and `rings` has what was copied */
    /* of this process, and shown to a worker process whose kernels send: `control`, the gate, the rings, their slots */
    struct gyre_link_store store;
    gyre_control_region *control; /* its first lines: there are no queues */
    gyre_link_gate *gate;
    struct gyre_subscriber_source *sources;
    uint32_t source_count, ring_count;

    /* under pipeline->lock */
    struct gyre_subscriber *next;
    bool dropped;  /* tables do not have it since the change `turn` */
    uint64_t turn; /* of pipeline->turn */
    bool orphaned; /* nobody has it any more: it goes when no block knows it */

    pthread_mutex_t lock;
    pthread_cond_t left;                /* `inside` fell to 0 */
    gyre_pipeline *pipeline;            /* NULL: it was closed */
    bool left_behind;                   /* a handler did not return: its block may fill the rings for ever */
    bool closing;                       /* gyre_unsubscribe was called */
    uint32_t inside;                    /* threads that receive */
    struct gyre_subscriber_ring *rings; /* the members of each are under the lock */
    uint32_t turn_of;                   /* the ring to look at first */
    uint32_t vain;                      /* looks at copies one after the other that found nothing */
    uint64_t received, missed_told;
};

/* ---- subscriber_list.c; under pipeline->lock ---- */

/** How many subscribers hear a port. */
uint32_t gyre_subscribers_count(const gyre_pipeline *pipeline, int node, uint32_t port);
/** How many subscribers all topics of a kernel have, kernels included. */
uint32_t gyre_branches_count(const gyre_pipeline *pipeline, int node);
/** Writes the branches that lead to them. Returns how many. */
uint32_t gyre_subscribers_write(const gyre_pipeline *pipeline, int node, uint32_t port,
                                gyre_link_branch *branches);

/** Logs what one that ends has missed. Also under subscriber->lock, or when nobody receives any more. */
void gyre_subscriber_tell_end(const gyre_pipeline *pipeline, const struct gyre_subscriber *subscriber);
/** The senders are in another worker process: the rings keep what was not received, and the senders go on behind it. */
void gyre_subscribers_renew(gyre_pipeline *pipeline);
/** The pipeline ended, and no table names the rings any more: gives the subscribers to their owners. */
void gyre_subscribers_part(gyre_pipeline *pipeline);
/** The pipeline ended, and a handler does not return: the memory stays. The owners are told. */
void gyre_subscribers_abandon(gyre_pipeline *pipeline);

/* ---- subscriber_memory.c ---- */

/** Makes a subscriber of the topic, in no list. NOT_FOUND, INCOMPATIBLE, INVALID, UNIMPLEMENTED, EXHAUSTED. */
gyre_status gyre_subscriber_make(gyre_pipeline *pipeline, const char *topic, const gyre_subscribe_desc *desc,
                                 struct gyre_subscriber **out);
/** Where the senders see what lies at this place of the subscriber's memory. */
static inline uint64_t gyre_subscriber_address(const struct gyre_subscriber *subscriber, const void *place)
{
    return subscriber->store.address +
           (uint64_t)((const unsigned char *)place - (const unsigned char *)subscriber->store.host);
}
/** Writes the constants of the rings, as the senders see them now. */
void gyre_subscriber_point_rings(struct gyre_subscriber *subscriber);
/** Frees one that no block knows. */
void gyre_subscriber_free(struct gyre_subscriber *subscriber);

/* ---- subscriber_read.c ---- */

gyre_status gyre_subscriber_receive(gyre_subscription *subscription, void *message, gyre_publication *about,
                                    uint64_t deadline_ns);
void gyre_subscriber_look(gyre_subscription *subscription, gyre_subscription_info *info);
/** Makes those who wait look again. */
void gyre_subscriber_wake(struct gyre_subscriber *subscriber);
/** How many messages it missed, ever. */
uint64_t gyre_subscriber_missed(const struct gyre_subscriber *subscriber);

#endif
