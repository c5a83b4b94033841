/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A storm: senders that do not wait, but ask again and again, and are more than there is room for. A thread that frees
 * a place by taking its reply runs at that moment, and the threads that were turned away mostly do not, so it would get
 * every place anew and they none. Therefore, while several threads are turned away, a thread that was let in after
 * others had been refused is put off once, and lets the others run, before it is let in again. A thread that is turned
 * away lets others run as well, because a thread that asks all the time keeps the processor from threads that would
 * make room.
 *
 * A thread that is the only one to be turned away starts no storm, and a thread that was not let in before is never put
 * off.
 *
 * Lock: the producer's.
 */
#include "core/queue/storm.h"

#include <sched.h>
#include <string.h>

#include "core/queue/side.h"

enum { CALM = 64 }; /* messages without a refusal that end a storm */

/* Two threads whose names fall on one place overwrite each other's record there, so they are put off less often. */
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
