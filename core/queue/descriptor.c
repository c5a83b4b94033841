/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements gyre_queue_descriptor: a file descriptor for event loops. For each such queue, a watcher thread waits until a
 * completion for receivers is at the cursor, and makes an eventfd readable. Receivers make it unreadable when they leave no
 * completion behind. The reply to a call is not for receivers, so the watcher waits until the caller has taken it.
 *
 * State: watch->signalled is set by the watcher and cleared under the consumer lock
 * (watch_settle).
 */
#include "core/queue/watch.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/threads.h"
#include "core/queue/consumer.h"
#include "core/queue/label.h"
#include "core/queue/mark.h"
#include "core/queue/side.h"
#include "core/queue/wait.h"

struct watch {
    struct gyre_queue_watch of_queue; /* first */
    gyre_queue *queue;
    pthread_t thread;
    int descriptor;
    uint32_t signalled; /* futex word: 1 while the descriptor is readable; the watcher sleeps then */
    uint32_t leave;
};

static struct watch *watch_of(const gyre_queue *queue)
{
    return (struct watch *)queue->watch;
}

static void watch_signal(struct watch *watch)
{
    uint64_t one = 1;
    __atomic_store_n(&watch->signalled, 1, __ATOMIC_SEQ_CST);
    ssize_t written = write(watch->descriptor, &one, sizeof one);
    (void)written; /* an eventfd at 1 takes another write; nothing else can fail */
}

/* Whether a receiver finds something at the cursor: a completion for receivers, or the queue's end (CLOSED or LOST). The
 * sequence is read before the mark, as in receive.c. */
static bool is_for_receivers(const gyre_queue *queue, uint64_t cursor)
{
    return gyre_queue_lost(queue) || gyre_queue_closed(queue) ||
           (gyre_queue_is_completed(queue, cursor) && gyre_mark_get(queue, cursor) == GYRE_MARK_SEND);
}

static int something_at_cursor(const gyre_queue *queue, uint64_t cursor)
{
    if (__atomic_load_n(&watch_of(queue)->leave, __ATOMIC_ACQUIRE) || gyre_queue_lost(queue))
        return 1;
    return gyre_received(queue) != cursor || gyre_queue_is_completed(queue, cursor) ||
           gyre_queue_closed(queue);
}

static int no_call_at_cursor(const gyre_queue *queue, uint64_t cursor)
{
    if (__atomic_load_n(&watch_of(queue)->leave, __ATOMIC_ACQUIRE) || gyre_queue_lost(queue))
        return 1;
    return gyre_received(queue) != cursor || gyre_queue_closed(queue) ||
           gyre_mark_get(queue, cursor) != GYRE_MARK_CALL;
}

/* Waits until a look at the cursor is worthwhile: first for a completion there; then, if it is the reply to a call, until a
 * thread steps over it. That thread rings the bell for room; the device has already rung for the completions behind it. */
static gyre_status await_something(gyre_queue *queue)
{
    const uint64_t cursor = gyre_received(queue);
    gyre_status status = gyre_queue_wait(queue, something_at_cursor, cursor, GYRE_BELL_DEVICE, GYRE_FOREVER);
    return status == GYRE_OK
               ? gyre_queue_wait(queue, no_call_at_cursor, cursor, GYRE_BELL_CREDIT, GYRE_FOREVER)
               : status;
}

static void *watch_queue(void *argument)
{
    struct watch *watch = argument;
    gyre_queue *queue = watch->queue;
    while (!__atomic_load_n(&watch->leave, __ATOMIC_ACQUIRE)) {
        if (await_something(queue) == GYRE_OK) {
            gyre_consumer_take(queue); /* so no receiver empties the queue between the look and the signal */
            if (is_for_receivers(queue, queue->consumer.received))
                watch_signal(watch);
            gyre_consumer_give(queue);
        }
        while (__atomic_load_n(&watch->signalled, __ATOMIC_ACQUIRE) &&
               !__atomic_load_n(&watch->leave, __ATOMIC_ACQUIRE))
            gyre_futex_wait(&watch->signalled, 1, UINT64_MAX);
    }
    return NULL;
}

static void watch_settle(gyre_queue *queue)
{
    struct watch *watch = watch_of(queue);
    uint64_t count;
    if (!__atomic_load_n(&watch->signalled, __ATOMIC_SEQ_CST) ||
        is_for_receivers(queue, queue->consumer.received))
        return;
    ssize_t cleared = read(watch->descriptor, &count, sizeof count);
    (void)cleared; /* EAGAIN: the eventfd was 0 already */
    __atomic_store_n(&watch->signalled, 0, __ATOMIC_SEQ_CST);
    gyre_futex_wake(&watch->signalled, 1);
}

static void watch_destroy(gyre_queue *queue)
{
    struct watch *watch = watch_of(queue);
    __atomic_store_n(&watch->leave, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&watch->signalled, 0, __ATOMIC_SEQ_CST);
    gyre_futex_wake(&watch->signalled, 1);
    gyre_bell_ring(&queue->ring.shared->device.bell, INT_MAX);
    gyre_bell_ring(&queue->state.credit_bell, INT_MAX);
    pthread_join(watch->thread, NULL);
    close(watch->descriptor);
    free(watch);
    queue->watch = NULL;
}

static gyre_status start_watch(gyre_queue *queue)
{
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to watch a queue");
    watch->queue = queue;
    watch->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (watch->descriptor < 0) {
        const gyre_status lack =
            gyre_error_set(GYRE_EXHAUSTED, "no descriptor to watch a queue: %s", strerror(errno));
        free(watch);
        return lack;
    }
    watch->of_queue = (struct gyre_queue_watch){watch_settle, watch_destroy};
    queue->watch = &watch->of_queue;
    gyre_status status = gyre_thread_need(&watch->thread, watch_queue, watch, "to watch a queue");
    if (status != GYRE_OK) {
        queue->watch = NULL;
        close(watch->descriptor);
        free(watch);
    }
    return status;
}

gyre_status gyre_queue_descriptor(gyre_queue *queue, int *descriptor)
{
    gyre_status status = GYRE_OK;
    if (!queue || !descriptor)
        return gyre_error_set(GYRE_INVALID,
                              "gyre_queue_descriptor needs a queue and a place for the descriptor");
    *descriptor = -1;
    if (gyre_queue_refused(queue))
        return gyre_queue_tell_refused(queue);
    if (!queue->ways.many_threads)
        return gyre_error_set(GYRE_INVALID, "a queue with threads = one has no descriptor: "
                                            "the watcher is a second thread; configure threads = many");
    gyre_consumer_take(queue);
    if (!queue->watch)
        status = start_watch(queue);
    gyre_consumer_give(queue);
    if (status == GYRE_OK)
        *descriptor = watch_of(queue)->descriptor;
    return status;
}
