/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for wishes of several queues: gyre_wait_any, and the base of sets of queues (set.c). */
#ifndef GYRE_CORE_QUEUE_WISHES_H
#define GYRE_CORE_QUEUE_WISHES_H

#include "core/queue/queue.h"

struct gyre_wishes {
    gyre_wish *wishes; /* the queue of each is NULL, or kept from being freed by the caller */
    size_t count;
    const uint32_t *interrupt; /* futex word, atomic: a value other than `seen` ends the wait; NULL: none */
    uint32_t seen;
    bool sleeps; /* the wait sleeps at once, because its thread has no reason to be quick */
};

/** The wanted events that one queue fulfils now. Takes no lock. */
uint32_t gyre_wish_look(const gyre_queue *queue, uint32_t wants);

/** INVALID unless it names a queue and something that can be awaited. */
gyre_status gyre_wish_check(const gyre_wish *wish);

/**
 * Waits until a wish is fulfilled or the interrupt came: OK; else AGAIN or TIMEOUT. Each element's .ready says what is
 * fulfilled; sets no sentence.
 */
gyre_status gyre_wishes_wait(const struct gyre_wishes *all, uint64_t deadline_ns);

/** Before and after a wait: keep the queues from being freed meanwhile. */
void gyre_wishes_stay(const struct gyre_wishes *all);
void gyre_wishes_leave(const struct gyre_wishes *all);

#endif
