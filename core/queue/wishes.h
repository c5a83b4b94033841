/* SPDX-License-Identifier: Apache-2.0 */
/* Waits until one of several wishes is fulfilled. A wish names a queue and the events that a thread waits for, such as room
 * or a completion. gyre_wait_any and sets of queues (set.c) use this. */
#ifndef GYRE_CORE_QUEUE_WISHES_H
#define GYRE_CORE_QUEUE_WISHES_H

#include "core/queue/queue.h"

struct gyre_wishes {
    gyre_wish *wishes; /* a wish's queue may be NULL; the caller keeps the others from being freed */
    size_t count;
    const uint32_t *interrupt; /* futex word, atomic: a value other than `seen` ends the wait; NULL: none */
    uint32_t seen;
    bool sleeps; /* the wait sleeps at once, because its thread has no reason to be quick */
};

/** The events among `wants` that hold for this queue now, and GYRE_WISH_ENDED when a wanted event can no longer come. Takes no
 * lock. */
uint32_t gyre_wish_look(const gyre_queue *queue, uint32_t wants);

/** INVALID unless the wish names a queue and an event that a thread can wait for. */
gyre_status gyre_wish_check(const gyre_wish *wish);

/**
 * Waits until a wish is fulfilled or `interrupt` changed: OK; else AGAIN or TIMEOUT. The member `ready` of each wish says
 * which events hold. Sets no sentence.
 */
gyre_status gyre_wishes_wait(const struct gyre_wishes *all, uint64_t deadline_ns);

/**
 * Sets the error of a wait that ended with TIMEOUT: names each queue whose server is away, with the server's sentence. Called
 * before gyre_wishes_leave. `awaited`: the words for the queues, such as "a set of queues".
 */
gyre_status gyre_wishes_tell_timeout(const struct gyre_wishes *all, const char *awaited,
                                     uint64_t deadline_ns);

/** Called before (stay) and after (leave) a wait: keep the queues from being freed in between. */
void gyre_wishes_stay(const struct gyre_wishes *all);
void gyre_wishes_leave(const struct gyre_wishes *all);

#endif
