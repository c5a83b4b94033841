/* SPDX-License-Identifier: Apache-2.0 */
/* The attendant: a thread that does duties at their times, for the stages that have some. */
#ifndef GYRE_CORE_STAGES_ATTENDANT_H
#define GYRE_CORE_STAGES_ATTENDANT_H

#include "core/queue/queue.h"

/** The result of a duty. */
struct gyre_due {
    uint64_t until;    /* when something is due next; UINT64_MAX: nothing is */
    uint64_t moved;    /* requests that were put into the ring */
    bool waiting;      /* messages wait in front of a window that is full ... */
    uint64_t answered; /* ... and has room once the request of this index is answered */
};

/** Does the work that is due at `now_ns`, and writes its result to *due. Under the producer lock. */
typedef void (*gyre_duty)(gyre_queue *queue, uint64_t now_ns, struct gyre_due *due);

enum { GYRE_DUTIES_MAX = 2 };

/** Adds the stage; the thread does these duties (NULL: none) in their order. EXHAUSTED. */
gyre_status gyre_attendant_create(gyre_queue *queue, const gyre_duty duties[GYRE_DUTIES_MAX]);

/** Something is due at `when_ns`. The producer lock is held. */
void gyre_attendant_expect(gyre_queue *queue, uint64_t when_ns);

#endif
