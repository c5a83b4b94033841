/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the attendant: a thread of a queue whose messages may expire, or wait by their priority. The attendant sleeps until
 * a duty (the timed work of a stage) is due, or the ring has room.
 *
 * Lock: the attendant holds the producer lock while it works, and none while it sleeps. Every thread writes and reads
 * `wake_ns` under the producer lock, so a thread with an earlier duty knows whether it has to ring the attendant's bell.
 */
#include "core/stages/attendant.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/base/threads.h"
#include "core/queue/bells.h"
#include "core/queue/progress.h"
#include "core/queue/side.h"
#include "core/queue/stage.h"
#include "core/queue/stage_list.h"
#include "core/queue/wait.h"
#include "core/ring/ring_message.h"
#include "core/stages/order.h"
#include "gyre/waiting.h"

/* While messages wait in front of the ring, the attendant looks for room after this time at the latest. */
#define LOOK_NS UINT64_C(5000000)

struct gyre_queue_attendant {
    gyre_queue *queue;
    gyre_duty duties[GYRE_DUTIES_MAX];
    pthread_t thread;
    uint64_t wake_ns;
    uint32_t bell; /* futex word: something is due earlier, or the thread is to leave */
    uint32_t leave;
};

static struct gyre_queue_attendant *attendant_of(const gyre_queue *queue)
{
    return gyre_stage_state(queue, GYRE_STAGE_ATTENDANT);
}

static struct gyre_due attendant_work(struct gyre_queue_attendant *attendant)
{
    struct gyre_due due = {.until = UINT64_MAX};
    gyre_queue *queue = attendant->queue;
    gyre_producer_take(queue);
    for (size_t i = 0; i < GYRE_DUTIES_MAX; i++)
        if (attendant->duties[i])
            attendant->duties[i](queue, gyre_clock_ns(), &due);
    attendant->wake_ns = due.until;
    gyre_producer_give(queue);
    if (due.moved) {
        gyre_queue_ring_doorbell(queue, due.moved);
        gyre_queue_ring_credit(queue);
    }
    return due;
}

/* True when request `answered` is answered, so that the ring may have room again, or when the thread has to leave. */
static int window_moved(const gyre_queue *queue, uint64_t answered)
{
    if (__atomic_load_n(&attendant_of(queue)->leave, __ATOMIC_ACQUIRE))
        return 1;
    return answered < gyre_queue_next_index(queue) && gyre_reply_ready(gyre_ring_of(queue), answered);
}

/*
 * True when the thread has to leave. *seen is the bell before this look and before the work that follows: a bell that rings
 * later makes the sleep return at once. The bell that tells the thread to leave rings after `leave` is set.
 */
static bool attendant_leaves(const struct gyre_queue_attendant *attendant, uint32_t *seen)
{
    *seen = __atomic_load_n(&attendant->bell, __ATOMIC_ACQUIRE);
    (void)GYRE_FAULT_POINT(ATTENDANT_LOOK);
    return __atomic_load_n(&attendant->leave, __ATOMIC_ACQUIRE);
}

static void *attendant_run(void *argument)
{
    struct gyre_queue_attendant *attendant = argument;
    gyre_queue *queue = attendant->queue;
    uint32_t seen;
    while (!attendant_leaves(attendant, &seen)) {
        const struct gyre_due due = attendant_work(attendant);
        const uint64_t soon = gyre_clock_ns() + LOOK_NS;
        if (due.waiting && due.answered < gyre_queue_next_index(queue))
            gyre_queue_wait(queue, window_moved, due.answered, GYRE_BELL_DEVICE,
                            soon < due.until ? soon : due.until);
        else
            gyre_futex_wait(&attendant->bell, seen, due.waiting && soon < due.until ? soon : due.until);
    }
    return NULL;
}

static void attendant_close(gyre_queue *queue)
{
    struct gyre_queue_attendant *attendant = attendant_of(queue);
    __atomic_store_n(&attendant->leave, 1, __ATOMIC_RELEASE);
    gyre_bell_ring(&attendant->bell, 1);
    gyre_bell_ring(&gyre_ring_of(queue)->shared->device.bell, INT_MAX);
    pthread_join(attendant->thread, NULL);
}

static void attendant_destroy(gyre_queue *queue, void *state)
{
    (void)queue;
    free(state);
}

gyre_status gyre_attendant_create(gyre_queue *queue, const gyre_duty duties[GYRE_DUTIES_MAX])
{
    static const struct gyre_queue_stage stage = {
        .number = GYRE_STAGE_ATTENDANT, .close = attendant_close, .destroy = attendant_destroy};
    struct gyre_queue_attendant *attendant = calloc(1, sizeof *attendant);
    if (!attendant)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the thread of a queue with deadlines or levels");
    attendant->queue = queue;
    for (size_t i = 0; i < GYRE_DUTIES_MAX; i++)
        attendant->duties[i] = duties[i];
    gyre_stage_add(queue, &stage, attendant); /* before the thread, which looks for it */
    gyre_status status =
        gyre_thread_need(&attendant->thread, attendant_run, attendant, "to attend to a queue");
    if (status != GYRE_OK)
        gyre_stage_remove(queue, GYRE_STAGE_ATTENDANT);
    return status;
}

void gyre_attendant_expect(gyre_queue *queue, uint64_t when_ns)
{
    struct gyre_queue_attendant *attendant = attendant_of(queue);
    if (when_ns >= attendant->wake_ns)
        return;
    attendant->wake_ns = when_ns;
    gyre_bell_ring(&attendant->bell, 1);
}
