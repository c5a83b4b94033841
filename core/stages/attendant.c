/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attendant: a thread of a queue whose messages may expire, or wait by their priority. It sleeps until
 * something is due, or the ring has room.
 *
 * Lock: the producer's while it works, none while it sleeps. `wake_ns` is written and read under that lock,
 * so that whoever expects something earlier knows whether to ring.
 */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/thread.h"
#include "core/stages/behaviours.h"
#include "gyre/waiting.h"

/* While messages wait in front of the ring: between two looks when nothing tells of room. */
#define LOOK_NS UINT64_C(5000000)

struct gyre_queue_attendant {
    gyre_queue *queue;
    pthread_t thread;
    uint64_t wake_ns;
    uint32_t bell; /* futex word: something is due earlier, or the thread is to leave */
    uint32_t leave;
};

/* What is due now is done. *until: when the next thing is; true: messages wait for a window that is full. */
static bool work(struct gyre_queue_attendant *attendant, uint64_t *until, uint64_t *answered)
{
    gyre_queue *queue = attendant->queue;
    uint64_t moved = 0;
    bool waiting = false;
    gyre_producer_take(queue);
    *until = queue->expiry ? gyre_queue_expiry_sweep(queue, gyre_clock_ns()) : UINT64_MAX;
    if (queue->levels) {
        moved = gyre_queue_levels_pump(queue);
        waiting = gyre_queue_waiting(queue) > 0;
        *answered = gyre_queue_levels_answered(queue);
    }
    attendant->wake_ns = *until;
    gyre_producer_give(queue);
    if (moved) {
        gyre_queue_ring_doorbell(queue, moved);
        gyre_queue_ring_credit(queue);
    }
    return waiting;
}

/* The window may have room again. */
static int window_moved(const gyre_queue *queue, uint64_t answered)
{
    if (__atomic_load_n(&queue->attendant->leave, __ATOMIC_ACQUIRE))
        return 1;
    return answered < gyre_queue_next_index(queue) && gyre_reply_ready(queue, answered);
}

static void *attend(void *argument)
{
    struct gyre_queue_attendant *attendant = argument;
    gyre_queue *queue = attendant->queue;
    uint64_t until, answered = 0;
    while (!__atomic_load_n(&attendant->leave, __ATOMIC_ACQUIRE)) {
        /* before the work: who rings later makes the sleep return at once */
        const uint32_t seen = __atomic_load_n(&attendant->bell, __ATOMIC_ACQUIRE);
        const bool waiting = work(attendant, &until, &answered);
        const uint64_t soon = gyre_clock_ns() + LOOK_NS;
        if (waiting && answered < gyre_queue_next_index(queue))
            gyre_queue_wait(queue, window_moved, answered, GYRE_BELL_DEVICE, soon < until ? soon : until);
        else
            gyre_futex_wait(&attendant->bell, seen, waiting && soon < until ? soon : until);
    }
    return NULL;
}

gyre_status gyre_queue_attendant_create(gyre_queue *queue)
{
    struct gyre_queue_attendant *attendant = calloc(1, sizeof *attendant);
    if (!attendant)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to attend to a queue");
    attendant->queue = queue;
    queue->attendant = attendant;
    gyre_status status = gyre_thread_need(&attendant->thread, attend, attendant, "to attend to a queue");
    if (status != GYRE_OK) {
        free(attendant);
        queue->attendant = NULL;
    }
    return status;
}

void gyre_queue_attendant_destroy(gyre_queue *queue)
{
    struct gyre_queue_attendant *attendant = queue->attendant;
    if (!attendant)
        return;
    __atomic_store_n(&attendant->leave, 1, __ATOMIC_RELEASE);
    gyre_bell_ring(&attendant->bell, 1);
    gyre_bell_ring(&queue->shared->device.bell, INT_MAX);
    pthread_join(attendant->thread, NULL);
    free(attendant);
    queue->attendant = NULL;
}

void gyre_queue_attendant_expect(gyre_queue *queue, uint64_t when_ns)
{
    struct gyre_queue_attendant *attendant = queue->attendant;
    if (when_ns >= attendant->wake_ns)
        return;
    attendant->wake_ns = when_ns;
    gyre_bell_ring(&attendant->bell, 1);
}
