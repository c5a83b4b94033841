/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares a full queue in a storm: several senders that do not wait, but are turned away and ask again and again (storm.h).
 *
 * A thread that frees a slot by taking its reply runs at that moment, and the threads that were turned away mostly do not. So
 * it would get every slot, and they none. Therefore a thread that has sent during a storm is put off once, after others
 * were turned away: the others come first, and it asks again later. A thread that is turned away also yields the
 * processor, because a thread that asks all the time keeps it from threads that would make room.
 *
 * If only one thread is turned away, there is no storm. A thread that has not sent during the storm is never put off.
 *
 * Lock: the producer's.
 */
#include "core/queue/storm_rules.h"

#include <sched.h>
#include <string.h>

#include "core/queue/side.h"

enum { CALM = 64 }; /* messages without a refusal that end a storm */

/* The place of a thread's record. Two threads whose names fall on the same place overwrite each other's record, so they are
 * put off less often. */
static unsigned place_of(uintptr_t thread)
{
    return (unsigned)((thread >> 6 ^ thread >> 12 ^ thread >> 18) % GYRE_STORM_SENDERS);
}

bool gyre_storm_puts_off(gyre_queue *queue)
{
    struct gyre_storm *storm = &queue->producer.storm;
    const uintptr_t thread = gyre_thread_name();
    const unsigned place = place_of(thread);
    const bool known = storm->senders[place].thread == thread;
    const uint64_t times = storm->count - storm->senders[place].count;
    if (!known || storm->senders[place].put_off || times <= storm->senders[place].own)
        return false;
    storm->senders[place].put_off = true;
    return true;
}

void gyre_storm_let_in(gyre_queue *queue)
{
    struct gyre_storm *storm = &queue->producer.storm;
    const uintptr_t thread = gyre_thread_name();
    const unsigned place = place_of(thread);
    storm->senders[place].thread = thread;
    storm->senders[place].count = storm->count;
    storm->senders[place].own = 0;
    storm->senders[place].put_off = false;
    if (++storm->calm < CALM)
        return;
    memset(storm, 0, sizeof *storm);
    gyre_barred_set(queue, GYRE_BARRED_STORM, false);
}

void gyre_storm_turned_away(gyre_queue *queue)
{
    struct gyre_storm *storm = &queue->producer.storm;
    const uintptr_t thread = gyre_thread_name();
    const unsigned place = place_of(thread);
    if (queue->ways.policy != GYRE_FULL_BLOCK && queue->ways.policy != GYRE_FULL_REJECT)
        return;
    gyre_producer_take(queue);
    storm->count++;
    storm->calm = 0;
    if (storm->senders[place].thread == thread)
        storm->senders[place].own++;
    if (storm->last && storm->last != thread && !(queue->producer.barred & GYRE_BARRED_STORM))
        gyre_barred_set(queue, GYRE_BARRED_STORM, true);
    storm->last = thread;
    const bool rages = queue->producer.barred & GYRE_BARRED_STORM;
    gyre_producer_give(queue);
    if (rages)
        sched_yield();
}
