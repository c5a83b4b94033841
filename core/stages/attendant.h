/* SPDX-License-Identifier: Apache-2.0 */
/* The attendant of a queue: a thread that calls the duties (the timed work) of the queue's stages when they are due. */
#ifndef GYRE_CORE_STAGES_ATTENDANT_H
#define GYRE_CORE_STAGES_ATTENDANT_H

#include "core/queue/queue.h"

/** The result of a duty: when to call again, and what the duty moved. */
struct gyre_due {
    uint64_t until;    /* time at which the duty has to run next; UINT64_MAX: never */
    uint64_t moved;    /* requests that the duty put into the ring */
    bool waiting;      /* messages wait in front of the ring, because its window is full */
    uint64_t answered; /* while `waiting`: the window has room once the request of this index is answered */
};

/** Does the work that is due at `now_ns`, and writes its result to *due. Under the producer lock. */
typedef void (*gyre_duty)(gyre_queue *queue, uint64_t now_ns, struct gyre_due *due);

enum { GYRE_DUTIES_MAX = 2 };

/** Adds the stage and starts its thread, which calls `duties` in their order and skips NULL entries. EXHAUSTED. */
gyre_status gyre_attendant_create(gyre_queue *queue, const gyre_duty duties[GYRE_DUTIES_MAX]);

/** Tells the attendant that a duty is due at `when_ns`. The caller holds the producer lock. */
void gyre_attendant_expect(gyre_queue *queue, uint64_t when_ns);

#endif
