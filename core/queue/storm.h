/* SPDX-License-Identifier: Apache-2.0 */
/* Senders that are turned away from a full queue and ask again and again: see storm.c. */
#ifndef GYRE_CORE_QUEUE_STORM_H
#define GYRE_CORE_QUEUE_STORM_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/gyre.h"

enum { GYRE_STORM_SENDERS = 64 };

struct gyre_storm {
    uintptr_t last; /* the thread that was turned away last; 0: none was */
    uint64_t count; /* how often any thread was turned away */
    uint32_t calm;  /* messages since a thread was turned away last */
    struct {
        uintptr_t thread;
        uint64_t count, own; /* the storm's `count` when the thread was let in last; its own refusals since */
        bool put_off;        /* once since then */
    } senders[GYRE_STORM_SENDERS];
};

/* Each is about the calling thread. The first two are called under the producer's lock. */

/** There is a storm: whether the thread was let in after others were turned away, and has not been put off since. */
bool gyre_storm_puts_off(gyre_queue *queue);
/** The thread is let in while there is a storm. */
void gyre_storm_let_in(gyre_queue *queue);
/** Without the lock: the thread is turned away. Lets others run while there is a storm. */
void gyre_storm_turned_away(gyre_queue *queue);

#endif
