/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows lent queues, whose clients are other programs (lent.h). No locks: several threads may look at once, and at worst
 * one of them sees an older state. Must not believe a number that the client can write.
 */
#include "core/queue/lent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/queue/state.h"

gyre_status gyre_lent_create(gyre_queue *queue)
{
    struct gyre_lent *lent = calloc(1, sizeof *lent);
    if (!lent)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a queue of another program");
    lent->queue = queue;
    lent->limit = UINT64_MAX;
    lent->notice = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    queue->foreign.lent = lent;
    if (lent->notice < 0)
        return gyre_error_set(GYRE_EXHAUSTED, "no descriptor for a queue of another program: %s",
                              strerror(errno));
    return GYRE_OK;
}

void gyre_lent_destroy(gyre_queue *queue)
{
    if (!queue->foreign.lent)
        return;
    if (queue->foreign.lent->notice >= 0)
        close(queue->foreign.lent->notice);
    free(queue->foreign.lent);
    queue->foreign.lent = NULL;
}

static uint64_t sequence_of(const gyre_slot *slot)
{
    return __atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE);
}

/* Whether the `sequence` in the slot of `index` belongs to a later request that uses the same slot. */
static bool is_lapped(const gyre_queue *queue, uint64_t sequence, uint64_t index)
{
    return sequence > index + 1 && ((sequence - 1 - index) & queue->ring.mask) == 0;
}

/* The first index from `index` on that is not known to be answered. If a slot holds a later answer, the client has received
 * the earlier answer in that slot, and all answers before it. */
static uint64_t answered_end(const gyre_queue *queue, uint64_t index)
{
    for (uint64_t looks = 0; looks < 2 * queue->ring.capacity; looks++) {
        uint64_t sequence = sequence_of(gyre_reply_slot(&queue->ring, index));
        if (sequence == index + 1)
            index++;
        else if (is_lapped(queue, sequence, index))
            index = sequence - queue->ring.capacity;
        else
            break;
    }
    return index;
}

/* The first index from `index` on, below `end`, that is not known to be published. If a slot holds a later request, the
 * earlier request in that slot was published, too. */
static uint64_t published_end(const gyre_queue *queue, uint64_t index, uint64_t end)
{
    for (; index < end; index++) {
        uint64_t sequence = sequence_of(gyre_request_slot(&queue->ring, index));
        if (sequence != index + 1 && !is_lapped(queue, sequence, index))
            break;
    }
    return index;
}

void gyre_lent_look(struct gyre_lent *lent)
{
    gyre_queue *queue = lent->queue;
    uint64_t received = answered_end(queue, __atomic_load_n(&queue->consumer.received, __ATOMIC_RELAXED));
    uint64_t sent = __atomic_load_n(&queue->producer.sent, __ATOMIC_RELAXED),
             end = received + queue->ring.capacity;
    uint64_t limit = __atomic_load_n(&lent->limit, __ATOMIC_RELAXED);
    if (sent < received || sent > end)
        sent = received;
    sent = published_end(queue, sent, end < limit ? end : limit);
    __atomic_store_n(&queue->consumer.received, received, __ATOMIC_RELEASE);
    __atomic_store_n(&queue->producer.sent, sent, __ATOMIC_RELEASE);
}

static void eventfd_notify(int descriptor)
{
    uint64_t one = 1;
    ssize_t written = write(descriptor, &one, sizeof one);
    (void)written; /* full: it is readable already */
}

/*
 * The client learns of the closed sends a moment later. Requests that it may still send until then count, so that they
 * are drained. Later requests are not waited for; otherwise a client that goes on sending would keep a drain from its
 * end.
 */
void gyre_lent_tell(gyre_queue *queue)
{
    gyre_lent_look(queue->foreign.lent);
    if (__atomic_load_n(&queue->foreign.lent->limit, __ATOMIC_RELAXED) == UINT64_MAX)
        __atomic_store_n(&queue->foreign.lent->limit, gyre_received(queue) + queue->ring.capacity,
                         __ATOMIC_RELAXED);
    eventfd_notify(queue->foreign.lent->notice);
}

void gyre_lent_end(gyre_queue *queue)
{
    __atomic_store_n(&queue->foreign.lent->ended, 1, __ATOMIC_RELEASE); /* after the completions */
    eventfd_notify(queue->foreign.lent->notice);
}

void gyre_lent_ring(int doorbell)
{
    eventfd_notify(doorbell);
}
