/* SPDX-License-Identifier: Apache-2.0 */
/* Closes a queue that this process must not use any more, and wakes its client (state.h). */
#include "core/queue/state.h"

#include <limits.h>

#include "gyre/waiting.h"

void gyre_queue_misuse(gyre_queue *queue)
{
    __atomic_store_n(&queue->state.misused, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&queue->state.closed, 1, __ATOMIC_RELEASE);
    gyre_bell_ring(&queue->ring.shared->device.bell, INT_MAX);
    gyre_bell_ring(&queue->state.credit_bell, INT_MAX);
}

void gyre_queue_wake_client(const gyre_queue *queue)
{
    gyre_queue_region *shared = queue->ring.shared;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&shared->host.waiting, __ATOMIC_RELAXED))
        gyre_bell_ring(&shared->device.bell, INT_MAX);
}

void gyre_queue_disown(gyre_queue *queue)
{
    queue->ways.many_threads = false; /* a thread that the child does not have may hold the locks */
    queue->state.disowned = 1;
    queue->state.closed = 1;
}
