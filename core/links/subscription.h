/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object behind gyre_subscription. There are two kinds: one to a pipeline of this program (subscriber.h), and one that a server
 * feeds (core/attach/subscribed.c). Each begins with this struct. subscription.c checks arguments and calls the kind.
 */
#ifndef GYRE_CORE_LINKS_SUBSCRIPTION_H
#define GYRE_CORE_LINKS_SUBSCRIPTION_H

#include "core/types/types.h"
#include "gyre/subscribe.h"

struct gyre_subscription {
    /* constant once it is open */
    const struct gyre_subscription_kind *kind;
    char name[128];      /* "PIPELINE/TOPIC" */
    gyre_layout *layout; /* of its messages; the kind frees it */
    gyre_slow slow;
};

struct gyre_subscription_kind {
    /* `message` has room for a message of the type. *about is filled but for its size. */
    gyre_status (*receive)(gyre_subscription *subscription, void *message, gyre_publication *about,
                           uint64_t deadline_ns);
    /* Fills in what changes: received, missed, is_cut. */
    void (*look)(gyre_subscription *subscription, gyre_subscription_info *info);
    void (*end)(gyre_subscription *subscription);
};

/** Copies the descriptor (NULL: all defaults) and checks `slow`. INVALID, with the call's name. */
gyre_status gyre_subscription_read_desc(const char *call, const gyre_subscribe_desc *desc,
                                        gyre_subscribe_desc *out);
/** INCOMPATIBLE, unless the caller's type (NULL: unchecked) equals that of the topic. */
gyre_status gyre_subscription_check_type(const gyre_layout *topic, const gyre_type *callers);
/** Whether a receiver that found no message may wait for one: AGAIN with GYRE_NO_WAIT, TIMEOUT past the deadline. */
gyre_status gyre_subscription_may_wait(uint64_t deadline_ns);
/** Copies a message of `length` bytes into room for the type's size, and makes what is left of that zero. */
void gyre_subscription_copy(const gyre_layout *layout, void *message, const void *bytes, uint64_t length);

#endif
